import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DAY_MS, MINUTE_MS } from '#core/clock.ts';
import { serializeAgent } from '#core/ledger/agent-snapshot.ts';
import { CallTable } from '#core/ledger/call-table.ts';
import type { Command } from '#core/ledger/command.ts';
import { DoneCalls, isKept } from '#core/ledger/done-calls.ts';
import { openEmbeddedLedger } from '#core/ledger/embedded-ledger.ts';
import { foldJournal } from '#core/ledger/journal-fold.ts';
import { nextTurn } from '#core/ledger/journal-wait.ts';
import type { LedgerState } from '#core/ledger/state.ts';
import { SNAPSHOT_MS } from '#core/limits.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryLedger, type MemoryLedger } from '../support/memory-ledger.ts';
import { callIdAt, day, START_MS, type World } from './case.ts';
import {
  expire,
  finish,
  grant,
  moveIn,
  moveOut,
  putKey,
  renew,
  reserve,
  revokeKey,
  setAgent,
  settle,
} from './commands.ts';
import { copyFiles, logInto, newFolder, until } from './embedded-harness.ts';
import { createDraw, type Draw } from './history/random.ts';
import { openJournalHere } from './sqlite-journal-here.ts';

const HISTORIES = 8;
const STEPS = 120;

function randomCommand(random: Draw, world: World): Command {
  const agentId = 1 + random(3);
  const key = { agentId, keyId: agentId * 10 + random(2) };
  const call = random(40);
  const callId = callIdAt(START_MS + 8 * MINUTE_MS, call);
  const amount = BigInt(random(30));
  const operations = [
    () => reserve(call, amount, { ...key, callId, kind: random(9) === 0 ? 'video' : 'text' }),
    () => reserve(call, amount, { ...key, callId }),
    () => settle(call, amount, { agentId, callId }),
    () => settle(call, amount, { agentId, callId }),
    () => finish(call, { agentId, callId }),
    () => renew(call, { agentId, callId, generationId: random(2) === 0 ? null : `gen-${random(3)}` }),
    () => grant(amount + 1n, { agentId, grantId: `grant-${random(12)}`, expiresAtMs: day(1 + random(8)) }),
    () => moveOut(`trade-${random(9)}`, amount, { agentId, expiresAtMs: day(1 + random(8)) }),
    () => moveIn(`trade-${random(9)}`, amount, { agentId, expiresAtMs: day(random(9)) }),
    () => expire(agentId),
    () => putKey(key.keyId, { agentId, label: `label ${random(4)}` }),
    () => (random(6) === 0 ? revokeKey(key.keyId, { agentId }) : renew(call, { agentId, callId })),
    () => setAgent({ agentId, sourceVersion: random(9), status: random(9) === 0 ? 'suspended' : 'active' }),
  ];
  return (operations[random(operations.length)] ?? (() => expire(1)))()(world);
}

/** All but leases, which are not journaled, and ended calls that no longer count. */
function comparable(state: LedgerState, nowMs: number): string[] {
  return [...state.agents.values()]
    .sort((a, b) => a.agentId - b.agentId)
    .map((agent) => {
      const done = [...agent.done].filter(([, call]) => isKept(call, nowMs)).sort(([a], [b]) => a - b);
      const snapshot = serializeAgent({ ...agent, leases: new CallTable(), done: new DoneCalls(done) });
      return snapshot.slice(snapshot.indexOf('"agent":'));
    });
}

async function foldOf(dataDir: string): Promise<LedgerState> {
  const file = join(dataDir, 'ledger.sqlite');
  const journal = await openJournalHere(file, { onBroken: () => {} });
  try {
    return (await foldJournal(journal, file)).state;
  } finally {
    await journal.close();
  }
}

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

test(`whatever happened, a start finds exactly what the state machine has (seed ${seed})`, async () => {
  for (let history = 0; history < HISTORIES; history++) {
    const random = createDraw(seed + history);
    const clock = createFakeClock(START_MS);
    const dataDir = newFolder();
    const model: MemoryLedger = createMemoryLedger({ clock });
    const ledger = await openEmbeddedLedger({
      dataDir,
      clock,
      log: logInto([]),
      openJournal: openJournalHere,
    });
    const world = { ledger: model, clock, callIds: new Map<number, number>() };
    clock.set(START_MS + 8 * MINUTE_MS);
    for (let step = 0; step < STEPS; step++) {
      const command = randomCommand(random, world);
      const expected = await model.execute(command);
      const { result, durable } = await ledger.execute(command);
      expect(result, `seed ${seed + history}, step ${step}, ${command.type}`).toEqual(expected.result);
      if (random(3) === 0) await durable;
      if (random(9) === 0) clock.set(clock.now() + random(20_000));
      if (random(40) === 0) clock.set(clock.now() + random(2) * DAY_MS + 9 * MINUTE_MS);
      if (random(10) > 1) continue;
      await until(() => ledger.stats().lagEvents === 0);
      if (random(2) === 0) clock.advance(SNAPSHOT_MS);
      // At rest, or in the middle of a snapshot.
      if (random(2) === 0) for (let turn = 0; turn < 3; turn++) await nextTurn();
      const folded = await foldOf(copyFiles({ dataDir }));
      const nowMs = clock.now();
      expect(comparable(folded, nowMs), `seed ${seed + history}, step ${step}`).toEqual(
        comparable(model.state, nowMs),
      );
    }
    await ledger.close();
  }
});
