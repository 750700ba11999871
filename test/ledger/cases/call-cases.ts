import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import {
  CALL_ID_AGE_MAX_MS,
  CLOCK_APART_MAX_MS,
  GIVEN_UP_AHEAD_MAX_MS,
  GIVEN_UP_CALLS_MAX,
} from '#core/limits.ts';
import {
  after,
  at,
  callIdAt,
  charged,
  chargedBefore,
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
  callEnd,
  expire,
  finish,
  grant,
  MINUTES_13,
  pendingPrice,
  renew,
  reserve,
  reserveVideo,
  revokeKey,
  setAgent,
  settle,
  settleOrphan,
  startLimits,
} from '../commands.ts';

/** By a process whose clock shows more than the ledger's. */
const madeAhead = callIdAt(START_MS + 290_000);
/** Nothing can start with this id for a millisecond more. */
const TOO_FAR_AHEAD = callIdAt(START_MS + CLOCK_APART_MAX_MS + 1);

const TEN_MINUTES_AHEAD = callIdAt(START_MS + GIVEN_UP_AHEAD_MAX_MS);
const FURTHER_AHEAD = callIdAt(START_MS + GIVEN_UP_AHEAD_MAX_MS + 1);

/** As many as an agent's marks can be, all given up by a process whose clock is ahead. */
const givenUpAhead = (aheadMs: number): Row[] =>
  Array.from({ length: GIVEN_UP_CALLS_MAX }, (_, i) =>
    does(settle(1, 0n, { callId: callIdAt(START_MS + aheadMs, i) }), refused('no_hold')),
  );

const oneSlot = { limits: { ...startLimits, runningCalls: 1 } };
const noSlot = refused('running_calls', { runningCalls: 1, retryAfterMs: 1_000 });

/** The names of the generations that the open holds show. */
const seesGenerations = (...names: (string | null)[]): Row =>
  sees(1, { holds: names.map((generationId) => ({ generationId })) });

export const settleCases: readonly LedgerCase[] = [
  {
    promise: 'a call pays its real cost and gets the rest of its hold back',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 60n), ok),
      does(settle(1, 25n), charged(25n)),
      sees(1, { lots: lots([8, 75n, 0n]), chargedNanoUsd: 25n, chargedTodayNanoUsd: 25n, runningCalls: 0 }),
      sees(1, { holds: [] }),
    ],
  },
  {
    promise: 'a call never pays more than it held, however much it cost',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 60n), ok),
      does(settle(1, 61n), charged(60n, 1n)),
      does(reserve(2, 40n), ok),
      does(settle(2, 10n ** 30n), charged(40n, 10n ** 30n - 40n)),
      sees(1, { lots: [], chargedNanoUsd: 100n }),
    ],
  },
  {
    promise: 'a cost of zero stays zero',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 60n), ok),
      does(settle(1, 0n), charged(0n)),
      sees(1, { lots: lots([8, 100n, 0n]), chargedNanoUsd: 0n }),
    ],
  },
  {
    promise: 'the credit that ends soonest pays; what ends later comes back',
    rows: [
      ...activeAgent,
      does(grant(10n, { grantId: 'soon', expiresAtMs: day(2) }), ok),
      does(grant(10n, { grantId: 'middle', expiresAtMs: day(4) }), ok),
      does(grant(10n, { grantId: 'late', expiresAtMs: day(6) }), ok),
      does(reserve(1, 25n), ok),
      does(settle(1, 12n), charged(12n)),
      sees(1, { lots: lots([4, 8n, 0n], [6, 10n, 0n]) }),
    ],
  },
  {
    promise: 'credit that ends while it is held pays for its call; only the rest of it expires',
    rows: [
      ...activeAgent,
      does(grant(10n, { expiresAtMs: day(1) }), ok),
      does(reserve(1, 10n), ok),
      at(day(1)),
      does(expire(), { ok: true, expiredNanoUsd: 0n }),
      does(settle(1, 7n), charged(7n)),
      does(reserve(2, 1n), refused('balance', { spendableNanoUsd: 0n, heldNanoUsd: 0n })),
      sees(1, { lots: lots([1, 3n, 0n]), expiredNanoUsd: 0n }),
      does(expire(), { ok: true, expiredNanoUsd: 3n }),
      sees(1, { lots: [], chargedNanoUsd: 7n, expiredNanoUsd: 3n }),
    ],
  },
  {
    promise: 'a repeated settle answers the first charge, whatever cost it names',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 60n), ok),
      does(settle(1, 25n), charged(25n)),
      does(settle(1, 25n), chargedBefore(25n)),
      does(settle(1, 60n), chargedBefore(25n)),
      does(settleOrphan(1), chargedBefore(25n)),
      sees(1, { chargedNanoUsd: 25n }),
    ],
  },
  {
    promise: 'nothing is charged without a hold',
    rows: [
      does(settle(1, 5n), refused('no_hold')),
      ...agentWith(100n),
      does(settle(1, 5n), refused('no_hold')),
      does(reserve(1, 5n), ok),
      does(setAgent({ agentId: 2 }), ok),
      does(settle(1, 5n, { agentId: 2 }), refused('no_hold')),
      sees(1, { chargedNanoUsd: 0n }),
    ],
  },
  {
    promise:
      'a start that arrives after its call was given up holds nothing, as long as its id can start a call',
    rows: [
      ...agentWith(100n),
      does(settle(1, 0n), refused('no_hold')),
      does(settle(1, 0n), refused('no_hold')),
      does(reserve(1, 60n), refused('done', { chargedNanoUsd: 0n })),
      does(reserve(1, 60n, { nonce: 'process-2' }), refused('done', { chargedNanoUsd: 0n })),
      does(reserve(2, 60n), ok),
      sees(1, { lots: lots([8, 40n, 60n]), runningCalls: 1 }),
      after(CALL_ID_AGE_MAX_MS),
      does(settle(2, 0n), charged(0n)),
      does(reserve(1, 60n), refused('done', { chargedNanoUsd: 0n })),
      after(1),
      does(reserve(1, 60n), refused('stale_id')),
      sees(1, { lots: lots([8, 100n, 0n]), holds: [] }),
    ],
  },
  {
    promise: 'late starts of images and videos that were given up hold nothing either',
    rows: [
      ...agentWith(100n),
      does(settle(1, 0n), refused('no_hold')),
      does(reserve(1, 60n, { kind: 'image' }), refused('done', { chargedNanoUsd: 0n })),
      does(settle(2, 0n), refused('no_hold')),
      does(reserveVideo(2, 60n), refused('done', { chargedNanoUsd: 0n })),
      sees(1, { lots: lots([8, 100n, 0n]), holds: [] }),
    ],
  },
  {
    promise: 'one agent giving a call up keeps no other agent from starting one of the same id',
    rows: [
      ...agentWith(100n),
      does(setAgent({ agentId: 2 }), ok),
      does(settle(1, 0n, { agentId: 2 }), refused('no_hold')),
      does(reserve(1, 60n), ok),
      does(settle(1, 25n), charged(25n)),
    ],
  },
  {
    promise: 'neither an orphan that nobody knows nor a call that pays is taken for a call that was given up',
    rows: [
      ...agentWith(100n),
      does(settleOrphan(1), refused('no_hold')),
      does(settle(1, 5n), refused('no_hold')),
      does(reserve(1, 60n), ok),
    ],
  },
  {
    promise: 'of more given-up calls than are remembered no late start holds anything, and newer calls start',
    rows: [
      ...agentWith(100n),
      does(settle(1, 0n), refused('no_hold')),
      after(1),
      ...Array.from({ length: GIVEN_UP_CALLS_MAX }, (_, i) => does(settle(i + 2, 0n), refused('no_hold'))),
      does(reserve(1, 60n), refused('done', { chargedNanoUsd: 0n })),
      after(1),
      does(reserve(GIVEN_UP_CALLS_MAX + 2, 60n), ok),
      sees(1, { lots: lots([8, 40n, 60n]) }),
    ],
  },
  {
    promise:
      'calls that were given up by a process whose clock is hours ahead keep no start of another process back',
    rows: [
      ...agentWith(100n),
      ...givenUpAhead(2 * HOUR_MS),
      does(reserve(1, 60n), ok),
      sees(1, { lots: lots([8, 40n, 60n]) }),
    ],
  },
  {
    promise:
      'a start that was dated a little too far ahead, and given up, holds nothing when it arrives after its time has come',
    rows: [
      ...agentWith(100n),
      does(settle(1, 0n, { callId: TOO_FAR_AHEAD }), refused('no_hold')),
      does(reserve(1, 60n, { callId: TOO_FAR_AHEAD }), refused('clock_apart')),
      after(1),
      does(reserve(1, 60n, { callId: TOO_FAR_AHEAD }), refused('done', { chargedNanoUsd: 0n })),
      does(reserve(2, 60n), ok),
      sees(1, { lots: lots([8, 40n, 60n]) }),
    ],
  },
  {
    promise:
      'as many calls as are remembered, given up by a process whose clock is six minutes ahead, keep no start of another process back, then or later',
    rows: [
      ...agentWith(100n),
      ...givenUpAhead(6 * MINUTE_MS),
      does(reserve(1, 20n), ok),
      after(2 * MINUTE_MS),
      does(reserve(2, 20n), ok),
      sees(1, { lots: lots([8, 60n, 40n]) }),
    ],
  },
  {
    promise:
      'a start that is dated up to ten minutes ahead, and given up, holds nothing when its time has come',
    rows: [
      ...agentWith(100n),
      does(settle(1, 0n, { callId: TEN_MINUTES_AHEAD }), refused('no_hold')),
      after(10 * MINUTE_MS),
      does(reserve(1, 60n, { callId: TEN_MINUTES_AHEAD }), refused('done', { chargedNanoUsd: 0n })),
      after(CALL_ID_AGE_MAX_MS),
      does(reserve(1, 60n, { callId: TEN_MINUTES_AHEAD }), refused('done', { chargedNanoUsd: 0n })),
      after(1),
      does(reserve(1, 60n, { callId: TEN_MINUTES_AHEAD }), refused('stale_id')),
      sees(1, { lots: lots([8, 100n, 0n]), holds: [] }),
    ],
  },
  {
    promise: 'a start that is dated further ahead leaves no mark, and can start once its time has come',
    rows: [
      ...agentWith(100n),
      does(settle(1, 0n, { callId: FURTHER_AHEAD }), refused('no_hold')),
      does(reserve(1, 60n, { callId: FURTHER_AHEAD }), refused('clock_apart')),
      after(10 * MINUTE_MS),
      does(reserve(1, 60n, { callId: FURTHER_AHEAD }), ok),
    ],
  },
  {
    promise: 'an ended call is remembered for an hour, and charges nothing after it',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 5n), ok),
      does(settle(1, 5n), charged(5n)),
      after(HOUR_MS - 1),
      does(settle(1, 5n), chargedBefore(5n)),
      does(finish(1), refused('done', { chargedNanoUsd: 5n })),
      after(1),
      does(settle(1, 5n), refused('no_hold')),
      does(finish(1), refused('no_hold')),
      sees(1, { chargedNanoUsd: 5n }),
    ],
  },
  {
    promise: 'a running call of a revoked key, or of a suspended agent, ends and pays',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 5n), ok),
      does(reserve(2, 5n), ok),
      does(revokeKey(1), ok),
      does(settle(1, 3n), charged(3n)),
      does(setAgent({ sourceVersion: 2, status: 'suspended' }), ok),
      does(settle(2, 3n), charged(3n)),
    ],
  },
  {
    promise: 'counts that are no whole numbers cannot keep a call from ending',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 5n), ok),
      does(reserve(2, 5n), ok),
      does(
        settle(1, 3n, {
          end: {
            ...callEnd,
            durationMs: -1,
            tokens: { prompt: Number.NaN, completion: 1.5, reasoning: 1e300, cached: -3 },
          },
        }),
        charged(3n),
      ),
      does(finish(2, { pending: { ...pendingPrice, deliveredTokens: Number.NaN } }), ok),
      does(settle(2, 3n), charged(3n)),
    ],
  },
  {
    promise: 'an orphan is settled free two minutes after its own time limit, and not a moment before',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 60n), ok),
      after(MINUTE_MS),
      does(settleOrphan(1), refused('not_orphaned')),
      after(MINUTES_13 + MINUTE_MS - 1),
      does(settleOrphan(1), refused('not_orphaned')),
      after(1),
      does(settleOrphan(1), charged(0n)),
      sees(1, { lots: lots([8, 100n, 0n]), chargedNanoUsd: 0n }),
      does(settle(1, 50n), chargedBefore(0n)),
    ],
  },
  {
    promise: 'a call is as old as its process says where the clock of the ledger was behind',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 60n, { callId: madeAhead }), ok),
      at(START_MS + 290_000 + MINUTES_13 + 2 * MINUTE_MS - 1),
      does(settle(1, 0n, { cause: 'orphan', callId: madeAhead }), refused('not_orphaned')),
      after(1),
      does(settle(1, 0n, { cause: 'orphan', callId: madeAhead }), charged(0n)),
    ],
  },
  {
    promise: 'an orphan is free even if the command names a cost',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 60n), ok),
      after(MINUTES_13 + 2 * MINUTE_MS),
      does(settle(1, 60n, { cause: 'orphan' }), charged(0n)),
    ],
  },
  {
    promise: 'an orphan has the time limit of its own call',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 10n, { kind: 'video', timeLimitMs: 2 * HOUR_MS }), ok),
      after(2 * HOUR_MS + 2 * MINUTE_MS - 1),
      does(settleOrphan(1), refused('not_orphaned')),
      after(1),
      does(settleOrphan(1), charged(0n)),
    ],
  },
  {
    promise: 'a renewed lease does not keep a call from being an orphan',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 10n), ok),
      after(MINUTES_13 + 2 * MINUTE_MS),
      does(renew(1), { ok: true }),
      does(settleOrphan(1), charged(0n)),
    ],
  },
  {
    promise: 'a call whose price is pending is never an orphan, however long that takes',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 60n), ok),
      does(finish(1), ok),
      after(24 * HOUR_MS),
      does(settleOrphan(1), refused('not_orphaned')),
      does(settle(1, 45n), charged(45n)),
    ],
  },
];

export const finishCases: readonly LedgerCase[] = [
  {
    promise: 'a call whose cost is not known keeps its hold, leaves its slot, and shows as pending',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 60n), ok),
      does(finish(1), ok),
      sees(1, { lots: lots([8, 40n, 60n]), runningCalls: 0 }),
      sees(1, { holds: [{ pending: { end: callEnd, pending: pendingPrice } }] }),
    ],
  },
  {
    promise: 'a finished call is priced later and charged once',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 60n), ok),
      does(finish(1), ok),
      after(10 * MINUTE_MS),
      does(settle(1, 30n), charged(30n)),
      does(settle(1, 30n), chargedBefore(30n)),
      sees(1, { lots: lots([8, 70n, 0n]), chargedNanoUsd: 30n, holds: [] }),
    ],
  },
  {
    promise: 'a repeated finish changes nothing, and one that comes too late learns the charge',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 60n), ok),
      does(finish(1), ok),
      does(finish(1, { end: { ...callEnd, outcome: 'failed' } }), repeated),
      sees(1, { holds: [{ pending: { end: callEnd, pending: pendingPrice } }] }),
      does(settle(1, 30n), charged(30n)),
      does(finish(1), refused('done', { chargedNanoUsd: 30n })),
    ],
  },
  {
    promise: 'nothing finishes without a hold',
    rows: [
      does(finish(1), refused('no_hold')),
      ...agentWith(100n),
      does(finish(1), refused('no_hold')),
      does(reserve(1, 1n), ok),
      does(setAgent({ agentId: 2 }), ok),
      does(finish(1, { agentId: 2 }), refused('no_hold')),
    ],
  },
];

export const renewCases: readonly LedgerCase[] = [
  {
    promise: 'a call that renews keeps its slot, minute after minute',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 1n, oneSlot), ok),
      after(45_000),
      does(renew(1), { ok: true }),
      after(45_000),
      does(reserve(2, 1n, oneSlot), noSlot),
      does(renew(1), { ok: true }),
      after(59_999),
      does(reserve(2, 1n, oneSlot), noSlot),
      after(1),
      does(reserve(2, 1n, oneSlot), ok),
    ],
  },
  {
    promise: 'a call that was away for a while takes its slot again, even beyond the eighth',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 1n, oneSlot), ok),
      after(MINUTE_MS),
      does(reserve(2, 1n, oneSlot), ok),
      does(renew(1), { ok: true }),
      sees(1, { runningCalls: 2 }),
    ],
  },
  {
    promise:
      'a call that is read on for its usage alone leaves its slot at once, and keeps its money until it is settled',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 60n, oneSlot), ok),
      does(reserve(2, 1n, oneSlot), noSlot),
      does(renew(1, { holdsSlot: false }), { ok: true }),
      sees(1, { runningCalls: 0, holds: [{ nanoUsd: 60n, pending: null }] }),
      does(reserve(2, 1n, oneSlot), ok),
      after(15_000),
      does(renew(1, { holdsSlot: false, generationId: 'gen-1' }), { ok: true }),
      does(reserve(3, 1n, oneSlot), noSlot),
      does(settle(1, 45n), charged(45n)),
      sees(1, { runningCalls: 1, holds: [{ nanoUsd: 1n }], chargedNanoUsd: 45n }),
    ],
  },
  {
    promise: 'a call that has ended, or finished, has no slot to keep',
    rows: [
      does(renew(9), refused('no_hold')),
      ...agentWith(100n),
      does(renew(9), refused('no_hold')),
      does(reserve(1, 1n), ok),
      does(reserve(2, 1n), ok),
      does(finish(1), ok),
      does(settle(2, 1n), charged(1n)),
      does(renew(1), refused('no_hold')),
      does(renew(1, { generationId: 'gen-9' }), refused('no_hold')),
      does(renew(2), refused('no_hold')),
      sees(1, { runningCalls: 0 }),
    ],
  },
  {
    promise: 'the name that the provider gave the answer is kept with the hold',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 1n), ok),
      seesGenerations(null),
      does(renew(1, { generationId: 'gen-1' }), { ok: true }),
      seesGenerations('gen-1'),
      does(renew(1), { ok: true }),
      does(renew(1, { generationId: 'gen-1' }), { ok: true }),
      seesGenerations('gen-1'),
      does(renew(1, { generationId: 'gen-2' }), { ok: true }),
      seesGenerations('gen-2'),
    ],
  },
  {
    promise: 'a renewal that tells the name of the answer also keeps the slot',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 1n, oneSlot), ok),
      after(45_000),
      does(renew(1, { generationId: 'gen-1' }), { ok: true }),
      after(45_000),
      does(reserve(2, 1n, oneSlot), noSlot),
    ],
  },
  {
    promise: 'a video that renews still takes no slot',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 1n, { kind: 'video' }), ok),
      does(renew(1, { generationId: 'job-1' }), { ok: true }),
      seesGenerations('job-1'),
      sees(1, { runningCalls: 0 }),
    ],
  },
];
