import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import {
  after,
  at,
  charged,
  day,
  does,
  type LedgerCase,
  lots,
  ok,
  type Row,
  refused,
  repeated,
  START_MS,
  sees,
} from '../case.ts';
import {
  activeAgent,
  agentWith,
  expire,
  grant,
  keyLimits,
  putKey,
  reserve,
  settle,
  startLimits,
  startUpload,
} from '../commands.ts';

/** A clock that was ahead for some commands is right again, and the operator has set the ledger's time back to it. */
const repairedAt = (nowMs: number): Row => {
  return async (world) => {
    world.clock.set(nowMs);
    if (world.setTimeBack === undefined) throw new Error('the time of this ledger cannot be set back');
    await world.setTimeBack();
  };
};

const RIGHT_AGAIN_MS = START_MS + MINUTE_MS;
/** One start of the default rate: after a wrong clock its bucket counts as used. */
const oneStart = after(100);

const limitOf = (reset: 'daily' | 'weekly' | 'monthly') => ({ limit: { limitNanoUsd: 100n, reset } });
const spend = (call: number, nanoUsd: bigint): Row[] => [
  does(reserve(call, nanoUsd, { keyId: 2 }), ok),
  does(settle(call, nanoUsd), charged(nanoUsd)),
  oneStart,
];
const overLimit = (remainingNanoUsd: bigint, resetsAtMs: number) =>
  refused('key_limit', { remainingNanoUsd, heldNanoUsd: 0n, limitNanoUsd: 100n, resetsAtMs });

const share = { ...startLimits, dailyShareNanoUsd: 100n };
const twoUploads = { limits: { uploadsPerDay: 2 } };
const twoKeys = { actingKeyId: 1, madeOverMcp: true, limits: { ...keyLimits, mcpKeysPerDay: 2 } };

/** The limit's period turned under the wrong clock: from the next charge it counts what was spent under that clock. */
const limitCase = (of: {
  reset: 'daily' | 'weekly' | 'monthly';
  aheadDays: number;
  resetsOn: number;
}): LedgerCase => ({
  promise: `a ${of.reset} limit that turned under a wrong clock waits for no time that has not come, and from the next charge counts what was spent under it`,
  rows: [
    ...agentWith(1_000n),
    does(putKey(2, limitOf(of.reset)), ok),
    ...spend(1, 40n),
    at(START_MS + of.aheadDays * DAY_MS),
    does(grant(1_000n, { grantId: 'ahead', expiresAtMs: day(of.aheadDays + 8) }), ok),
    ...spend(2, 90n),
    repairedAt(RIGHT_AGAIN_MS),
    does(reserve(4, 101n, { keyId: 2 }), overLimit(100n, day(of.resetsOn))),
    ...spend(4, 5n),
    does(reserve(5, 6n, { keyId: 2 }), overLimit(5n, day(of.resetsOn))),
    ...spend(5, 5n),
    at(day(of.resetsOn)),
    ...spend(6, 100n),
  ],
});

export const clockCases: readonly LedgerCase[] = [
  limitCase({ reset: 'daily', aheadDays: 3, resetsOn: 1 }),
  limitCase({ reset: 'weekly', aheadDays: 6, resetsOn: 5 }),
  limitCase({ reset: 'monthly', aheadDays: 13, resetsOn: 13 }),
  {
    promise: 'a limit whose period did not turn under a wrong clock still counts all that was spent in it',
    rows: [
      ...agentWith(1_000n),
      does(putKey(2, limitOf('daily')), ok),
      ...spend(1, 40n),
      at(START_MS + 2 * HOUR_MS),
      ...spend(2, 50n),
      repairedAt(RIGHT_AGAIN_MS),
      does(reserve(3, 11n, { keyId: 2 }), overLimit(10n, day(1))),
      ...spend(3, 10n),
    ],
  },
  {
    promise:
      'a limit whose period turned under a wrong clock, while the key spent nothing, still counts all that was spent in it',
    rows: [
      ...agentWith(1_000n),
      does(putKey(2, limitOf('daily')), ok),
      ...spend(1, 40n),
      at(START_MS + 3 * DAY_MS),
      does(reserve(2, 1n), ok),
      does(settle(2, 1n), charged(1n)),
      repairedAt(RIGHT_AGAIN_MS),
      does(reserve(3, 61n, { keyId: 2 }), overLimit(60n, day(1))),
      ...spend(3, 60n),
    ],
  },
  {
    promise: "an agent's share of a day that turned under a wrong clock is not used up until that day",
    rows: [
      ...agentWith(1_000n),
      does(putKey(2), ok),
      at(START_MS + 3 * DAY_MS),
      ...spend(1, 90n),
      repairedAt(RIGHT_AGAIN_MS),
      does(reserve(2, 101n, { limits: share }), refused('daily_share', { resetsAtMs: day(1) })),
      ...spend(2, 5n),
      does(reserve(3, 6n, { limits: share }), refused('daily_share', { resetsAtMs: day(1) })),
      does(reserve(4, 5n, { limits: share }), ok),
    ],
  },
  {
    promise: 'a start that a wrong clock stamped lets the next one through, and from there the rate counts',
    rows: [
      ...agentWith(1_000n),
      at(START_MS + 2 * HOUR_MS),
      does(reserve(1, 1n), ok),
      repairedAt(RIGHT_AGAIN_MS),
      does(reserve(2, 1n), ok),
      does(reserve(3, 1n), refused('rate', { retryAfterMs: 100 })),
      after(99),
      does(reserve(3, 1n), refused('rate', { retryAfterMs: 1 })),
      after(1),
      does(reserve(3, 1n), ok),
    ],
  },
  {
    promise:
      'uploads that a wrong clock stamped count nothing of a day that has not come, and are still the same uploads',
    rows: [
      ...agentWith(5n),
      at(START_MS + 3 * DAY_MS),
      does(startUpload('upl_1', twoUploads), ok),
      does(startUpload('upl_2', twoUploads), ok),
      does(startUpload('upl_3', twoUploads), refused('uploads_per_day', { retryAfterMs: DAY_MS })),
      repairedAt(RIGHT_AGAIN_MS),
      does(startUpload('upl_1', twoUploads), repeated),
      does(startUpload('upl_3', twoUploads), ok),
      does(startUpload('upl_4', twoUploads), ok),
      does(startUpload('upl_5', twoUploads), refused('uploads_per_day', { retryAfterMs: DAY_MS })),
      after(DAY_MS),
      does(startUpload('upl_5', twoUploads), ok),
    ],
  },
  {
    promise: 'keys made over MCP that a wrong clock stamped count nothing of a day that has not come',
    rows: [
      ...activeAgent,
      at(START_MS + 3 * DAY_MS),
      does(putKey(2, twoKeys), ok),
      does(putKey(3, twoKeys), ok),
      does(putKey(4, twoKeys), refused('too_many_mcp_keys')),
      repairedAt(RIGHT_AGAIN_MS),
      does(putKey(4, twoKeys), ok),
      does(putKey(5, twoKeys), ok),
      does(putKey(6, twoKeys), refused('too_many_mcp_keys')),
      after(DAY_MS),
      does(putKey(6, twoKeys), ok),
    ],
  },
  {
    promise:
      'credit that ended under a wrong clock only is spendable once it is right; credit that was expired stays so',
    rows: [
      ...activeAgent,
      does(grant(5n, { grantId: 'one', expiresAtMs: day(1) }), ok),
      does(grant(7n, { grantId: 'two', expiresAtMs: day(2) }), ok),
      at(START_MS + DAY_MS),
      does(expire(), { ok: true, expiredNanoUsd: 5n }),
      at(START_MS + 2 * DAY_MS),
      does(reserve(1, 1n), refused('balance', { spendableNanoUsd: 0n, heldNanoUsd: 0n })),
      repairedAt(RIGHT_AGAIN_MS),
      does(expire(), { ok: true, expiredNanoUsd: 0n }),
      does(reserve(2, 8n), refused('balance', { spendableNanoUsd: 7n, heldNanoUsd: 0n })),
      does(reserve(3, 7n), ok),
      does(settle(3, 6n), charged(6n)),
      sees(1, { expiredNanoUsd: 5n, lots: lots([2, 1n, 0n]) }),
      at(day(2)),
      does(expire(), { ok: true, expiredNanoUsd: 1n }),
    ],
  },
];
