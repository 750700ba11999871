import { z } from 'zod';
import { isoTime } from '#core/clock.ts';
import type { KeyView } from '#core/ledger/ledger.ts';
import { formatUsd, maxBigint } from '#core/money.ts';
import { usdText } from './money.ts';

export const SpendingLimit = z
  .object({
    limit_usd: usdText(),
    reset: z
      .enum(['daily', 'weekly', 'monthly'])
      .meta({ description: 'Periods start at 00:00 UTC, weeks on Monday.' }),
    spent_usd: usdText(),
    reserved_usd: usdText().meta({ description: "Held by the key's running calls." }),
    remaining_usd: usdText().meta({ description: 'Limit less spent less held.' }),
    resets_at: z.iso.datetime(),
  })
  .meta({ id: 'SpendingLimit' });
export type SpendingLimit = z.infer<typeof SpendingLimit>;

export function shapeSpendingLimit(limit: NonNullable<KeyView['limit']>): SpendingLimit {
  const { limitNanoUsd, spentNanoUsd, heldNanoUsd } = limit;
  return {
    limit_usd: formatUsd(limitNanoUsd),
    reset: limit.reset,
    spent_usd: formatUsd(spentNanoUsd),
    reserved_usd: formatUsd(heldNanoUsd),
    // A limit set mid-period counts what was spent before, which may be more than the limit.
    remaining_usd: formatUsd(maxBigint(0n, limitNanoUsd - spentNanoUsd - heldNanoUsd)),
    resets_at: isoTime(limit.resetsAtMs),
  };
}
