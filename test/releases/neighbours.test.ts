import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { decodeLedgerEvent, ledgerEvent } from '#core/events/ledger-event.ts';
import { deserializeAgent } from '#core/ledger/machine/agent-snapshot.ts';
import { foldEvent } from '#core/ledger/machine/apply.ts';
import { emptyLedger } from '#core/ledger/machine/empty-ledger.ts';
import { lastRelease } from './last-release.ts';
import { writeHistory } from './write-history.ts';

/*
 * While a cluster is upgraded, or rolled back, this release and the one before it work on one ledger.
 */
const linesOf = (file: string): string[] => readFileSync(file, 'utf8').trimEnd().split('\n');

test('this release reads every event that the one before it wrote, and makes the same agents of them', () => {
  const ledger = emptyLedger();
  for (const line of linesOf(lastRelease.events)) {
    const event = decodeLedgerEvent(JSON.parse(line));
    expect(event).toEqual(JSON.parse(line));
    expect(foldEvent(ledger, event)).toBe('applied');
  }
  const agents = linesOf(lastRelease.agents).map(deserializeAgent);
  expect(agents.length).toBeGreaterThan(1);
  expect([...ledger.agents.values()]).toEqual(agents);
});

test('the release before it reads every event that this one writes: it is strict, so a field must be known before it is written', () => {
  const before = z.fromJSONSchema(JSON.parse(readFileSync(lastRelease.schema, 'utf8')));
  const seen = new Set<string>();
  for (let seed = 1; seed <= 100; seed++) {
    for (const event of writeHistory(seed, 60)) {
      const read = before.safeParse(JSON.parse(JSON.stringify(event)));
      if (!read.success) expect([event, read.error.issues]).toEqual([event, []]);
      seen.add(event.type);
    }
  }
  expect([...seen].sort()).toEqual(ledgerEvent.options.map(({ shape }) => shape.type.value).sort());
  const [granted] = writeHistory(1, 10).filter(({ type }) => type === 'granted');
  expect(before.safeParse(granted).success).toBe(true);
  expect(before.safeParse({ ...granted, ofTheNextRelease: 1 }).success).toBe(false);
});
