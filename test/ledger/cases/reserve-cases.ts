import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import {
  after,
  at,
  callIdAt,
  charged,
  day,
  does,
  type LedgerCase,
  lots,
  ok,
  refused,
  START_MS,
  sees,
} from '../case.ts';
import {
  activeAgent,
  agentWith,
  callFacts,
  finish,
  grant,
  putKey,
  reserve,
  revokeKey,
  setAgent,
  settle,
  startLimits,
} from '../commands.ts';

const oneShare = { ...startLimits, dailyShareNanoUsd: 100n };

export const reserveCases: readonly LedgerCase[] = [
  {
    promise: 'a call holds its worst case from the moment it starts',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 30n), ok),
      sees(1, { lots: lots([8, 70n, 30n]), runningCalls: 1, chargedNanoUsd: 0n }),
    ],
  },
  {
    promise: 'a call may hold all that is spendable, and not a nano-dollar more',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 101n), refused('balance', { spendableNanoUsd: 100n, heldNanoUsd: 0n })),
      does(reserve(2, 100n), ok),
      does(reserve(3, 1n), refused('balance', { spendableNanoUsd: 0n, heldNanoUsd: 100n })),
    ],
  },
  {
    promise: 'an agent without credit can hold nothing, but a free call runs',
    rows: [
      ...activeAgent,
      does(reserve(1, 1n), refused('balance', { spendableNanoUsd: 0n, heldNanoUsd: 0n })),
      does(reserve(2, 0n), ok),
      does(settle(2, 0n), charged(0n)),
    ],
  },
  {
    promise: 'credit that ends soonest is held first, whatever order it came in',
    rows: [
      ...activeAgent,
      does(grant(10n, { grantId: 'late', expiresAtMs: day(5) }), ok),
      does(grant(10n, { grantId: 'soon', expiresAtMs: day(2) }), ok),
      does(grant(10n, { grantId: 'middle', expiresAtMs: day(3) }), ok),
      does(reserve(1, 15n), ok),
      sees(1, { lots: lots([2, 0n, 10n], [3, 5n, 5n], [5, 10n, 0n]) }),
    ],
  },
  {
    promise: 'credit can be held until the last millisecond of its last day, and not at midnight',
    rows: [
      ...activeAgent,
      does(grant(10n, { expiresAtMs: day(1) }), ok),
      at(day(1) - 1),
      does(reserve(1, 5n), ok),
      at(day(1)),
      does(reserve(2, 1n), refused('balance', { spendableNanoUsd: 0n, heldNanoUsd: 5n })),
    ],
  },
  {
    promise: 'credit that has ended is not spendable even before it has been expired',
    rows: [
      ...activeAgent,
      does(grant(10n, { grantId: 'ends', expiresAtMs: day(1) }), ok),
      does(grant(3n, { grantId: 'stays', expiresAtMs: day(2) }), ok),
      at(day(1)),
      does(reserve(1, 4n), refused('balance', { spendableNanoUsd: 3n, heldNanoUsd: 0n })),
      does(reserve(2, 3n), ok),
      sees(1, { lots: lots([1, 10n, 0n], [2, 0n, 3n]) }),
    ],
  },
  {
    promise: 'an unknown agent starts nothing',
    rows: [does(reserve(1, 0n), refused('unknown_agent'))],
  },
  {
    promise: 'an unknown key and a key of another agent start nothing',
    rows: [
      ...agentWith(10n),
      does(setAgent({ agentId: 2 }), ok),
      does(putKey(5, { agentId: 2 }), ok),
      does(reserve(1, 1n, { keyId: 99 }), refused('key_revoked')),
      does(reserve(1, 1n, { keyId: 5 }), refused('key_revoked')),
      does(reserve(1, 0n, { agentId: 2 }), refused('key_revoked')),
    ],
  },
  {
    promise: 'a revoked key starts nothing, while the other keys go on',
    rows: [
      ...agentWith(10n),
      does(putKey(2), ok),
      does(revokeKey(1), ok),
      does(reserve(1, 1n), refused('key_revoked')),
      does(reserve(1, 1n, { keyId: 2 }), ok),
    ],
  },
  {
    promise: 'an agent that is not active yet starts nothing',
    rows: [
      does(setAgent({ status: 'inactive' }), ok),
      does(putKey(1), ok),
      does(reserve(1, 0n), refused('agent_inactive')),
      does(setAgent({ sourceVersion: 2 }), ok),
      does(reserve(1, 0n), ok),
    ],
  },
  {
    promise: 'a suspension from any source stops new calls',
    rows: [
      ...agentWith(10n),
      does(setAgent({ source: 'launches', status: 'suspended' }), ok),
      does(reserve(1, 1n), refused('agent_suspended')),
      does(setAgent({ sourceVersion: 2, status: 'active' }), ok),
      does(reserve(1, 1n), refused('agent_suspended')),
      does(setAgent({ source: 'launches', sourceVersion: 2, status: 'inactive' }), ok),
      does(reserve(1, 1n), ok),
    ],
  },
  {
    promise: 'sixty calls start at once, the sixty-first waits a tenth of a second',
    rows: [
      ...activeAgent,
      ...Array.from({ length: 60 }, (_, i) => does(reserve(i, 0n, { kind: 'video' }), ok)),
      does(reserve(60, 0n, { kind: 'video' }), refused('rate', { retryAfterMs: 100 })),
      after(99),
      does(reserve(60, 0n, { kind: 'video' }), refused('rate', { retryAfterMs: 1 })),
      after(1),
      does(reserve(60, 0n, { kind: 'video' }), ok),
      does(reserve(61, 0n, { kind: 'video' }), refused('rate', { retryAfterMs: 100 })),
    ],
  },
  {
    promise: 'a long pause gives the whole burst back, and no more',
    rows: [
      ...activeAgent,
      ...[1, 2].map((i) => does(reserve(i, 0n, { limits: { ...startLimits, burst: 2 } }), ok)),
      after(3 * MINUTE_MS),
      ...[3, 4].map((i) => does(reserve(i, 0n, { limits: { ...startLimits, burst: 2 } }), ok)),
      does(reserve(5, 0n, { limits: { ...startLimits, burst: 2 } }), refused('rate', { retryAfterMs: 100 })),
    ],
  },
  {
    promise: 'a rate that divides no minute is kept to the millisecond',
    rows: [
      ...activeAgent,
      does(reserve(1, 0n, { limits: { ...startLimits, callsPerMinute: 7, burst: 1 } }), ok),
      does(
        reserve(2, 0n, { limits: { ...startLimits, callsPerMinute: 7, burst: 1 } }),
        refused('rate', { retryAfterMs: 8_572 }),
      ),
      after(8_572),
      does(reserve(2, 0n, { limits: { ...startLimits, callsPerMinute: 7, burst: 1 } }), ok),
    ],
  },
  {
    promise: 'a refused call uses up no start',
    rows: [
      ...agentWith(10n),
      does(
        reserve(1, 11n, { limits: { ...startLimits, burst: 1 } }),
        refused('balance', { spendableNanoUsd: 10n, heldNanoUsd: 0n }),
      ),
      does(reserve(2, 1n, { limits: { ...startLimits, burst: 1 } }), ok),
    ],
  },
  {
    promise: 'eight calls run at once, text and images alike; videos take no slot and need none',
    rows: [
      ...agentWith(100n),
      ...[1, 2, 3, 4, 5, 6, 7].map((i) => does(reserve(i, 1n), ok)),
      does(reserve(8, 1n, { kind: 'video' }), ok),
      does(reserve(9, 1n, { kind: 'image' }), ok),
      does(reserve(10, 1n), refused('running_calls', { runningCalls: 8, retryAfterMs: 1_000 })),
      does(
        reserve(10, 1n, { kind: 'image' }),
        refused('running_calls', { runningCalls: 8, retryAfterMs: 1_000 }),
      ),
      does(reserve(11, 1n, { kind: 'video' }), ok),
      sees(1, { runningCalls: 8 }),
    ],
  },
  {
    promise: 'a slot is free again as soon as its call is settled or finished',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 1n, { limits: { ...startLimits, runningCalls: 1 } }), ok),
      does(settle(1, 1n), charged(1n)),
      does(reserve(2, 1n, { limits: { ...startLimits, runningCalls: 1 } }), ok),
      does(finish(2), ok),
      does(reserve(3, 1n, { limits: { ...startLimits, runningCalls: 1 } }), ok),
    ],
  },
  {
    promise: 'the slot of a crashed process frees itself after a minute; its money stays held',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 40n, { limits: { ...startLimits, runningCalls: 1 } }), ok),
      after(MINUTE_MS - 1),
      does(
        reserve(2, 1n, { limits: { ...startLimits, runningCalls: 1 } }),
        refused('running_calls', { runningCalls: 1, retryAfterMs: 1_000 }),
      ),
      after(1),
      does(reserve(2, 1n, { limits: { ...startLimits, runningCalls: 1 } }), ok),
      sees(1, { lots: lots([8, 59n, 41n]), runningCalls: 1 }),
    ],
  },
  {
    promise: 'the daily share counts what was charged today and all that is held',
    rows: [
      ...agentWith(1_000n),
      does(reserve(1, 60n, { limits: oneShare }), ok),
      does(settle(1, 50n), charged(50n)),
      does(reserve(2, 30n, { limits: oneShare }), ok),
      does(reserve(3, 21n, { limits: oneShare }), refused('daily_share', { resetsAtMs: day(1) })),
      does(reserve(3, 20n, { limits: oneShare }), ok),
    ],
  },
  {
    promise: 'the daily share starts anew at midnight, but what is still held counts on',
    rows: [
      ...agentWith(1_000n),
      does(reserve(1, 60n, { limits: oneShare }), ok),
      does(settle(1, 60n), charged(60n)),
      does(reserve(2, 40n, { limits: oneShare }), ok),
      at(day(1) - 1),
      does(reserve(3, 1n, { limits: oneShare }), refused('daily_share', { resetsAtMs: day(1) })),
      at(day(1)),
      does(reserve(4, 61n, { limits: oneShare }), refused('daily_share', { resetsAtMs: day(2) })),
      does(reserve(5, 60n, { limits: oneShare }), ok),
    ],
  },
  {
    promise: 'no share set means no share checked',
    rows: [...agentWith(1_000n), does(reserve(1, 1_000n), ok)],
  },
  {
    promise: 'what a call is shows on its hold while it runs',
    rows: [
      ...agentWith(10n),
      does(reserve(1, 4n, { callId: callIdAt(START_MS, 7), kind: 'image', timeLimitMs: 60 * SECOND_MS }), ok),
      sees(1, {
        holds: [
          {
            agentId: 1,
            callId: callIdAt(START_MS, 7),
            keyId: 1,
            kind: 'image',
            nanoUsd: 4n,
            startedAtMs: START_MS,
            timeLimitMs: 60 * SECOND_MS,
            call: callFacts,
            generationId: null,
            pending: null,
          },
        ],
      }),
    ],
  },
];
