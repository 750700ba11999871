import { z } from 'zod';
import type { BillPage } from '#core/catalog/provider-kind.ts';
import { BALANCE_CAP_NANO_USD } from '#core/limits.ts';
import { attoToNanoUp, nanoToAtto, parseAttoUsd } from '#core/money.ts';

const keyPage = z.object({
  data: z.object({
    usage: z.number().nonnegative(),
    /** What vendors behind the router have billed the operator's own keys there. */
    byok_usage: z.number().nonnegative().nullish(),
  }),
});

/** All that the router has ever billed the key. */
export const bill: BillPage = {
  path: '/key',
  read(page) {
    const parsed = keyPage.safeParse(page);
    if (!parsed.success) return null;
    // A double holds a billion dollars to less than a millionth, which is enough to compare.
    const usage = parseAttoUsd(String(parsed.data.data.usage));
    const byok = parseAttoUsd(String(parsed.data.data.byok_usage ?? 0));
    if (usage === null || byok === null || usage + byok > nanoToAtto(BALANCE_CAP_NANO_USD)) return null;
    return attoToNanoUp(usage + byok);
  },
};
