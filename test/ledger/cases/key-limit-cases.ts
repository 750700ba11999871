import { at, charged, day, does, type LedgerCase, ok, refused, seesKey } from '../case.ts';
import { activeAgent, agentWith, changeKey, finish, grant, putKey, reserve, settle } from '../commands.ts';

const daily = (limitNanoUsd: bigint) => ({ limit: { limitNanoUsd, reset: 'daily' } }) as const;
const weekly = (limitNanoUsd: bigint) => ({ limit: { limitNanoUsd, reset: 'weekly' } }) as const;
const monthly = (limitNanoUsd: bigint) => ({ limit: { limitNanoUsd, reset: 'monthly' } }) as const;

export const keyLimitCases: readonly LedgerCase[] = [
  {
    promise: 'a key holds up to its limit, not a nano-dollar more; the other keys keep working',
    rows: [
      ...agentWith(1_000n),
      does(putKey(2, daily(100n)), ok),
      does(reserve(1, 101n, { keyId: 2 }), overLimit({ remaining: 100n, held: 0n })),
      does(reserve(1, 100n, { keyId: 2 }), ok),
      does(reserve(2, 1n, { keyId: 2 }), overLimit({ remaining: 0n, held: 100n })),
      does(reserve(3, 101n), ok),
    ],
  },
  {
    promise: 'a limit counts what was charged and what is held, and gets back what a call did not use',
    rows: [
      ...agentWith(1_000n),
      does(putKey(2, daily(100n)), ok),
      does(reserve(1, 80n, { keyId: 2 }), ok),
      does(reserve(2, 30n, { keyId: 2 }), overLimit({ remaining: 20n, held: 80n })),
      does(settle(1, 50n), charged(50n)),
      does(reserve(3, 30n, { keyId: 2 }), ok),
      does(reserve(4, 21n, { keyId: 2 }), overLimit({ remaining: 20n, held: 30n })),
      does(reserve(5, 20n, { keyId: 2 }), ok),
    ],
  },
  {
    promise: 'a call whose price is pending still counts against its key',
    rows: [
      ...agentWith(1_000n),
      does(putKey(2, daily(100n)), ok),
      does(reserve(1, 80n, { keyId: 2 }), ok),
      does(finish(1), ok),
      does(reserve(2, 30n, { keyId: 2 }), overLimit({ remaining: 20n, held: 80n })),
    ],
  },
  {
    promise: 'a daily limit starts anew at 00:00 UTC',
    rows: [
      ...agentWith(1_000n),
      does(putKey(2, daily(100n)), ok),
      does(reserve(1, 100n, { keyId: 2 }), ok),
      does(settle(1, 100n), charged(100n)),
      at(day(1) - 1),
      does(reserve(2, 1n, { keyId: 2 }), overLimit({ remaining: 0n, held: 0n })),
      at(day(1)),
      does(reserve(3, 100n, { keyId: 2 }), ok),
    ],
  },
  {
    promise: 'a weekly limit starts anew on Monday',
    rows: [
      ...agentWith(1_000n),
      does(putKey(2, weekly(100n)), ok),
      does(reserve(1, 100n, { keyId: 2 }), ok),
      does(settle(1, 70n), charged(70n)),
      at(day(5) - 1),
      does(reserve(2, 31n, { keyId: 2 }), overLimit({ remaining: 30n, held: 0n, resetsAtMs: day(5) })),
      at(day(5)),
      does(reserve(3, 101n, { keyId: 2 }), overLimit({ remaining: 100n, held: 0n, resetsAtMs: day(12) })),
      does(reserve(4, 100n, { keyId: 2 }), ok),
    ],
  },
  {
    promise: 'a monthly limit starts anew on the first',
    rows: [
      ...agentWith(1_000n),
      does(putKey(2, monthly(100n)), ok),
      does(reserve(1, 100n, { keyId: 2 }), ok),
      does(settle(1, 70n), charged(70n)),
      at(day(13) - 1),
      does(grant(1_000n, { grantId: 'december', expiresAtMs: day(20) }), ok),
      does(reserve(2, 31n, { keyId: 2 }), overLimit({ remaining: 30n, held: 0n, resetsAtMs: day(13) })),
      at(day(13)),
      does(reserve(3, 101n, { keyId: 2 }), overLimit({ remaining: 100n, held: 0n, resetsAtMs: day(44) })),
      does(reserve(4, 100n, { keyId: 2 }), ok),
    ],
  },
  {
    promise: 'a call that ends after midnight counts on the day on which it ends',
    rows: [
      ...agentWith(1_000n),
      does(putKey(2, daily(100n)), ok),
      at(day(1) - 1),
      does(reserve(1, 60n, { keyId: 2 }), ok),
      at(day(1)),
      does(reserve(2, 41n, { keyId: 2 }), overLimit({ remaining: 40n, held: 60n, resetsAtMs: day(2) })),
      does(settle(1, 60n), charged(60n)),
      does(reserve(2, 41n, { keyId: 2 }), overLimit({ remaining: 40n, held: 0n, resetsAtMs: day(2) })),
      does(reserve(3, 40n, { keyId: 2 }), ok),
    ],
  },
  {
    promise: 'a limit set in the middle of a period counts what was spent in it before',
    rows: [
      ...agentWith(1_000n),
      does(reserve(1, 80n), ok),
      does(settle(1, 80n), charged(80n)),
      at(day(1)),
      does(reserve(2, 15n), ok),
      does(settle(2, 15n), charged(15n)),
      does(changeKey(1, daily(100n)), ok),
      does(reserve(3, 86n), overLimit({ remaining: 85n, held: 0n, resetsAtMs: day(2) })),
      does(changeKey(1, weekly(100n)), ok),
      does(reserve(3, 6n), overLimit({ remaining: 5n, held: 0n, resetsAtMs: day(5) })),
      does(changeKey(1, monthly(100n)), ok),
      does(reserve(3, 6n), overLimit({ remaining: 5n, held: 0n, resetsAtMs: day(13) })),
      does(reserve(3, 5n), ok),
    ],
  },
  {
    promise: 'a limit below what was spent leaves nothing, never less',
    rows: [
      ...agentWith(1_000n),
      does(reserve(1, 80n), ok),
      does(settle(1, 80n), charged(80n)),
      does(changeKey(1, daily(50n)), ok),
      does(reserve(2, 1n), overLimit({ remaining: 0n, held: 0n, limit: 50n })),
      does(reserve(3, 0n), overLimit({ remaining: 0n, held: 0n, limit: 50n })),
    ],
  },
  {
    promise: 'a limit taken away stops counting at once',
    rows: [
      ...agentWith(1_000n),
      does(changeKey(1, daily(10n)), ok),
      does(reserve(1, 11n), overLimit({ remaining: 10n, held: 0n, limit: 10n })),
      does(changeKey(1, { limit: null }), ok),
      does(reserve(1, 11n), ok),
    ],
  },
  {
    promise: 'a key shows its spend of this month, its limit, and when it was last used',
    rows: [
      ...activeAgent,
      does(grant(100n), ok),
      seesKey(1, 1, { lastUsedAtMs: null, limit: null, monthNanoUsd: 0n }),
      does(changeKey(1, weekly(90n)), ok),
      does(reserve(1, 30n), ok),
      does(settle(1, 20n), charged(20n)),
      at(day(1) + 5),
      does(reserve(2, 40n), ok),
      seesKey(1, 1, {
        lastUsedAtMs: day(1) + 5,
        monthNanoUsd: 20n,
        limit: {
          limitNanoUsd: 90n,
          reset: 'weekly',
          spentNanoUsd: 20n,
          heldNanoUsd: 40n,
          resetsAtMs: day(5),
        },
      }),
      does(reserve(3, 31n), overLimit({ remaining: 30n, held: 40n, limit: 90n, resetsAtMs: day(5) })),
      at(day(13)),
      seesKey(1, 1, { lastUsedAtMs: day(1) + 5, monthNanoUsd: 0n }),
    ],
  },
];

function overLimit(of: { remaining: bigint; held: bigint; limit?: bigint; resetsAtMs?: number }) {
  return refused('key_limit', {
    remainingNanoUsd: of.remaining,
    heldNanoUsd: of.held,
    limitNanoUsd: of.limit ?? 100n,
    resetsAtMs: of.resetsAtMs ?? day(1),
  });
}
