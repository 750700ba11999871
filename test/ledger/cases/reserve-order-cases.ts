import { MINUTE_MS } from '#core/clock.ts';
import {
  after,
  callIdAt,
  charged,
  day,
  does,
  type LedgerCase,
  lots,
  ok,
  refused,
  repeated,
  START_MS,
  sees,
} from '../case.ts';
import { agentWith, changeKey, putKey, reserve, revokeKey, setAgent, settle } from '../commands.ts';

const stale = callIdAt(START_MS - 10 * MINUTE_MS - 1);

/** Who is told what, and in which order: repetitions, clashes of ids, clocks. */
export const reserveOrderCases: readonly LedgerCase[] = [
  {
    promise: 'the first start of a call answers, its repetition answers the same and holds nothing more',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 60n), ok),
      does(reserve(1, 60n), repeated),
      does(reserve(1, 99n), repeated),
      sees(1, { lots: lots([8, 40n, 60n]), runningCalls: 1 }),
    ],
  },
  {
    promise: 'two processes that drew the same id are told apart, during the call and after it',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 10n), ok),
      does(reserve(1, 10n, { nonce: 'process-2' }), refused('id_taken')),
      does(settle(1, 4n), charged(4n)),
      does(reserve(1, 10n, { nonce: 'process-2' }), refused('id_taken')),
      does(reserve(1, 10n), refused('done', { chargedNanoUsd: 4n })),
    ],
  },
  {
    promise: 'ids are told apart by agent',
    rows: [
      ...agentWith(100n),
      does(setAgent({ agentId: 2 }), ok),
      does(putKey(2, { agentId: 2 }), ok),
      does(reserve(1, 10n, { callId: callIdAt(START_MS) }), ok),
      does(reserve(2, 0n, { agentId: 2, keyId: 2, nonce: 'process-2', callId: callIdAt(START_MS) }), ok),
    ],
  },
  {
    promise: 'a repeated start is answered whatever has happened to key, agent and credit since',
    rows: [
      ...agentWith(10n),
      does(reserve(1, 10n), ok),
      does(revokeKey(1), ok),
      does(setAgent({ sourceVersion: 2, status: 'suspended' }), ok),
      does(reserve(1, 10n), repeated),
    ],
  },
  {
    promise: 'an id of ten minutes ago may start, an older one may not',
    rows: [
      ...agentWith(10n),
      does(reserve(1, 1n, { callId: callIdAt(START_MS - 10 * MINUTE_MS) }), ok),
      does(reserve(2, 1n, { callId: stale }), refused('stale_id')),
    ],
  },
  {
    promise: 'an id too old is refused even when its call still runs',
    rows: [
      ...agentWith(10n),
      does(reserve(1, 1n), ok),
      after(10 * MINUTE_MS + 1),
      does(reserve(1, 1n), refused('stale_id')),
    ],
  },
  {
    promise: 'a caller whose clock is five minutes off is served, one further off is not',
    rows: [
      ...agentWith(10n),
      does(reserve(1, 1n, { callerNowMs: START_MS + 5 * MINUTE_MS }), ok),
      does(reserve(2, 1n, { callerNowMs: START_MS - 5 * MINUTE_MS }), ok),
      does(reserve(3, 1n, { callerNowMs: START_MS + 5 * MINUTE_MS + 1 }), refused('clock_apart')),
      does(reserve(3, 1n, { callerNowMs: START_MS - 5 * MINUTE_MS - 1 }), refused('clock_apart')),
    ],
  },
  {
    promise: 'an id from the future is refused, because it would outlive the memory of ended calls',
    rows: [
      ...agentWith(10n),
      does(reserve(1, 1n, { callId: callIdAt(START_MS + 5 * MINUTE_MS) }), ok),
      does(reserve(2, 1n, { callId: callIdAt(START_MS + 5 * MINUTE_MS + 1) }), refused('clock_apart')),
    ],
  },
  {
    promise: 'a call that is wrong in every way learns its faults in one fixed order',
    rows: [
      ...everyFaultInTurn(),
      sees(1, { lots: lots([8, 40n, 60n]), runningCalls: 1, chargedNanoUsd: 0n }),
    ],
  },
];

/** Each row heals one fault of the row before, so that the next refusal in the order shows. */
function everyFaultInTurn() {
  const nowMs = START_MS;
  const limits = { callsPerMinute: 600, burst: 1, runningCalls: 1, dailyShareNanoUsd: 60n };
  const limit = { limitNanoUsd: 60n, reset: 'daily' } as const;
  const wrong = { callId: stale, callerNowMs: nowMs - 6 * MINUTE_MS, agentId: 9, limits };
  const timely = { callerNowMs: nowMs, limits };
  return [
    ...agentWith(100n),
    does(putKey(2, { limit }), ok),
    does(reserve(1, 60n, { keyId: 2, limits }), ok),
    does(revokeKey(1), ok),
    does(setAgent({ sourceVersion: 2, status: 'inactive' }), ok),
    does(reserve(2, 101n, wrong), refused('clock_apart')),
    does(reserve(2, 101n, { ...wrong, callerNowMs: nowMs }), refused('stale_id')),
    does(reserve(1, 101n, { ...timely, agentId: 9, nonce: 'process-2' }), refused('unknown_agent')),
    does(reserve(1, 101n, { ...timely, nonce: 'process-2' }), refused('id_taken')),
    does(reserve(2, 101n, timely), refused('key_revoked')),
    does(reserve(2, 101n, { ...timely, keyId: 2 }), refused('agent_inactive')),
    does(setAgent({ sourceVersion: 3 }), ok),
    does(reserve(2, 101n, { ...timely, keyId: 2 }), refused('rate', { retryAfterMs: 100 })),
    after(100),
    does(
      reserve(2, 101n, { keyId: 2, limits }),
      refused('running_calls', { runningCalls: 1, retryAfterMs: 1_000 }),
    ),
    does(
      reserve(2, 101n, { keyId: 2, kind: 'video', limits }),
      refused('daily_share', { resetsAtMs: day(1) }),
    ),
    does(
      reserve(2, 101n, { keyId: 2, kind: 'video', limits: { ...limits, dailyShareNanoUsd: null } }),
      refused('key_limit', {
        remainingNanoUsd: 0n,
        heldNanoUsd: 60n,
        limitNanoUsd: 60n,
        resetsAtMs: day(1),
      }),
    ),
    does(changeKey(2, { limit: null }), ok),
    does(
      reserve(2, 101n, { keyId: 2, kind: 'video', limits: { ...limits, dailyShareNanoUsd: null } }),
      refused('balance', { spendableNanoUsd: 40n, heldNanoUsd: 60n }),
    ),
  ];
}
