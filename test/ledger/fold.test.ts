import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { LedgerEvent } from '#core/events/ledger-event.ts';
import { serializeAgent } from '#core/ledger/machine/agent-snapshot.ts';
import { apply, foldEvent } from '#core/ledger/machine/apply.ts';
import { emptyLedger } from '#core/ledger/machine/empty-ledger.ts';
import { LedgerEventError, LedgerGapError } from '#core/ledger/machine/ledger-errors.ts';
import type { LedgerState } from '#core/ledger/machine/state.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryLedger, type MemoryLedger } from '../support/memory-ledger.ts';
import { charged, day, does, ok, type Row, START_MS } from './case.ts';
import {
  agentWith,
  callEnd,
  changeKey,
  finish,
  grant,
  moveIn,
  pendingPrice,
  putKey,
  renew,
  reserve,
  revokeKey,
  settle,
  startUpload,
} from './commands.ts';

/** One event of nearly every type, two of them of another agent. */
const rows: readonly Row[] = [
  ...agentWith(100n),
  does(grant(5n, { grantId: 'other', agentId: 2 }), ok),
  does(reserve(1, 30n), ok),
  does(renew(1, { generationId: 'gen-1' }), { ok: true }),
  does(finish(1), ok),
  does(settle(1, 10n), charged(10n)),
  does(moveIn('t1', 7n, { agentId: 2 }), { ok: true, repeated: false, expiredNanoUsd: 0n }),
  does(putKey(2), ok),
  does(changeKey(2, { label: 'renamed' }), ok),
  does(startUpload('upl_1'), ok),
  does(revokeKey(2), ok),
  does(reserve(2, 20n), ok),
];

async function ledgerAfter(some: readonly Row[]): Promise<MemoryLedger> {
  const clock = createFakeClock(START_MS);
  const ledger = createMemoryLedger({ clock });
  const world = { ledger, clock, callIds: new Map() };
  for (const row of some) await row(world);
  return ledger;
}

function foldOf(journal: readonly LedgerEvent[]): LedgerState {
  const state = emptyLedger();
  for (const event of journal) foldEvent(state, event);
  return state;
}

describe('folding a journal', () => {
  test('a fold of the whole journal is the state', async () => {
    const ledger = await ledgerAfter(rows);
    expect(foldOf(ledger.journal)).toEqual(ledger.state);
  });

  test('a journal that repeats itself folds to the same state', async () => {
    const { journal, state } = await ledgerAfter(rows);
    expect(foldOf(journal.flatMap((event, i) => [event, ...journal.slice(0, i), event]))).toEqual(state);
  });

  test('a repeated event is skipped and a new one applied', async () => {
    const { journal } = await ledgerAfter(rows);
    const state = emptyLedger();
    for (const event of journal) {
      expect(foldEvent(state, event)).toBe('applied');
      expect(foldEvent(state, event)).toBe('skipped');
    }
  });

  test('an event that is missing anywhere stops the fold at the next one of its agent', async () => {
    const { journal } = await ledgerAfter(rows);
    for (const [i, missing] of journal.entries()) {
      const rest = journal.toSpliced(i, 1);
      const later = rest.slice(i).find((event) => event.agentId === missing.agentId);
      if (later === undefined) continue;
      expect(() => foldOf(rest)).toThrow(LedgerGapError);
      expect(() => foldOf(rest)).toThrow(
        `agent ${missing.agentId}: expected version ${missing.version}, found ${later.version}`,
      );
    }
  });

  test('apply refuses an event that it has had already', async () => {
    const { journal, state } = await ledgerAfter(rows);
    for (const event of journal) expect(() => apply(state, event)).toThrow(LedgerGapError);
  });
});

describe('an event that cannot follow from the state', () => {
  const header = { v: 1, agentId: 1, atMs: START_MS } as const;
  const callId = 12_345;
  const call = { model: 'm', modelName: 'M', endpoint: 'chat', stream: false };
  const price = pendingPrice.price;
  const held = (n: number, nanoUsd: string) => ({ expiresAtMs: day(n), nanoUsd });
  const reserved = { ...header, type: 'reserved', callId, nonce: 'n', kind: 'text', keyId: 1 } as const;
  const rest = { leaseEndsAtMs: null, startsTatUs: 0, timeLimitMs: 1, call, price };
  const sale = { type: 'moved_out', tradeId: 't', buyerAgentId: 2 } as const;
  const key = { type: 'key_put', label: '', prefix: '', limit: null, createdByKeyId: null } as const;

  type Impossible = [string, (version: number, openCallId: number) => LedgerEvent];
  const impossible: Impossible[] = [
    ['a charge without a hold', (version) => settled(version, callId, '1')],
    ['a charge above the hold', (version, openCallId) => settled(version, openCallId, '21')],
    [
      'an end without a hold',
      (version) => ({ ...header, version, type: 'finished', callId, end: callEnd, pending: pendingPrice }),
    ],
    [
      'a name for a call without a hold',
      (version) => ({ ...header, version, type: 'renewed', callId, generationId: 'g' }),
    ],
    [
      'a second hold of a call',
      (version, openCallId) => ({
        ...reserved,
        ...rest,
        version,
        callId: openCallId,
        nanoUsd: '1',
        allocations: [held(8, '1')],
      }),
    ],
    [
      'a hold of an unknown key',
      (version) => ({ ...reserved, ...rest, version, keyId: 9, nanoUsd: '1', allocations: [held(8, '1')] }),
    ],
    [
      'a hold of more than its lot has',
      (version) => ({ ...reserved, ...rest, version, nanoUsd: '71', allocations: [held(8, '71')] }),
    ],
    [
      'a hold from no lot',
      (version) => ({ ...reserved, ...rest, version, nanoUsd: '1', allocations: [held(7, '1')] }),
    ],
    [
      'a hold that its lots do not sum up to',
      (version) => ({ ...reserved, ...rest, version, nanoUsd: '2', allocations: [held(8, '1')] }),
    ],
    [
      'an expiry of more than there is',
      (version) => ({ ...header, version, type: 'expired', lots: [held(8, '71')] }),
    ],
    [
      'an expiry from no lot',
      (version) => ({ ...header, version, type: 'expired', lots: [held(8, '1'), held(7, '1')] }),
    ],
    ['a sale of more than there is', (version) => ({ ...header, ...sale, version, lots: [held(8, '71')] })],
    [
      'a sale of two lots at once',
      (version) => ({ ...header, ...sale, version, lots: [held(8, '1'), held(8, '1')] }),
    ],
    ['a sale of no lot', (version) => ({ ...header, ...sale, version, lots: [] })],
    [
      'a purchase that expires more than it moves',
      (version) => ({
        ...header,
        version,
        type: 'moved_in',
        tradeId: 't',
        ...held(8, '1'),
        expiredNanoUsd: '2',
      }),
    ],
    [
      'a change of a revoked key',
      (version) => ({ ...header, ...key, version, keyId: 2, hash: 'hash-2', madeOverMcp: false }),
    ],
    [
      'a key with the hash of another',
      (version) => ({ ...header, ...key, version, keyId: 3, hash: 'hash-1', madeOverMcp: false }),
    ],
    [
      'a key that changes its hash',
      (version) => ({ ...header, ...key, version, keyId: 1, hash: 'hash-9', madeOverMcp: false }),
    ],
    ['a revocation of a revoked key', (version) => ({ ...header, version, type: 'key_revoked', keyId: 2 })],
    ['a revocation of an unknown key', (version) => ({ ...header, version, type: 'key_revoked', keyId: 9 })],
    [
      'an upload of an agent that was never made',
      () => ({ ...header, agentId: 77, version: 1, type: 'upload_started', uploadId: 'upl_2' }),
    ],
    [
      'a key of an agent that was never made',
      () => ({ ...header, ...key, agentId: 77, version: 1, keyId: 9, hash: 'h', madeOverMcp: false }),
    ],
  ];

  function settled(version: number, ofCall: number, chargedNanoUsd: string): LedgerEvent {
    return {
      ...header,
      version,
      type: 'settled',
      callId: ofCall,
      chargedNanoUsd,
      overrunNanoUsd: '0',
      end: callEnd,
    };
  }

  test.each(impossible)('%s is refused and changes nothing', async (_, make) => {
    const { state } = await ledgerAfter(rows);
    const agent = state.agents.get(1);
    if (agent === undefined) throw new Error('no agent');
    const [openCallId = 0] = agent.holds.keys();
    const before = serializeAgent(agent);
    expect(() => apply(state, make(agent.version + 1, openCallId))).toThrow(LedgerEventError);
    expect(serializeAgent(agent)).toBe(before);
    expect(isDeepStrictEqual([...state.agents.keys()], [1, 2])).toBe(true);
    expect([...state.keysByHash.keys()]).toEqual(['hash-1', 'hash-2']);
  });
});
