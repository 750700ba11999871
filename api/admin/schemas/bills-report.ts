import { z } from 'zod';
import type { BillReading } from '#core/bills/bill-watch.ts';
import { isoTime } from '#core/clock.ts';
import { formatUsd } from '#core/money.ts';

const usd = () =>
  z
    .string()
    .regex(/^\d+(\.\d{1,9})?$/)
    .meta({ description: 'US dollars.' });

const BillComparison = z
  .object({
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    billed_usd: usd(),
    recorded_usd: usd(),
    difference_usd: z
      .string()
      .regex(/^-?\d+(\.\d{1,9})?$/)
      .meta({ description: 'Billed less recorded: calls that still run are in it.' }),
  })
  .meta({ id: 'BillComparison' });

const ProviderBill = z
  .object({
    providers: z.array(z.string()).meta({ description: 'Those that share an address and a key.' }),
    comparison: BillComparison.nullable().meta({
      description: 'Null: there is nothing to compare with yet.',
    }),
    problem: z.string().nullable(),
  })
  .meta({ id: 'ProviderBill' });

export const BillsReport = z
  .object({
    ok: z.boolean().meta({ description: 'Every bill could be read.' }),
    bills: z.array(ProviderBill).meta({ description: 'Providers without an interface for it are left out.' }),
  })
  .meta({ id: 'BillsReport' });
export type BillsReport = z.infer<typeof BillsReport>;

export const shapeBills = (readings: readonly BillReading[]): BillsReport => ({
  ok: readings.every(({ problem }) => problem === null),
  bills: readings.map(({ account, comparison, problem }) => ({
    providers: [...account.providerIds],
    comparison: comparison && {
      from: isoTime(comparison.fromMs),
      to: isoTime(comparison.toMs),
      billed_usd: formatUsd(comparison.billedNanoUsd),
      recorded_usd: formatUsd(comparison.recordedNanoUsd),
      difference_usd: formatUsd(comparison.billedNanoUsd - comparison.recordedNanoUsd),
    },
    problem,
  })),
});
