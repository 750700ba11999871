import { z } from 'zod';
import type { UsageRange, UsageRow } from '#core/calls/call-history.ts';
import { formatUsd, type NanoUsd } from '#core/money.ts';
import { usdText } from './money.ts';

const sums = { usd: usdText(), calls: z.int(), tokens: z.int() };
const utcDay = () => z.iso.date().meta({ description: 'A UTC day.' });

/** Spec: Usage record. A call counts on the day on which it started, once its cost is known. */
export const UsageRecord = z
  .object({
    from: utcDay(),
    to: utcDay(),
    total: z.object(sums),
    days: z
      .array(z.object({ day: utcDay(), ...sums }))
      .meta({ description: 'Days without calls are left out.' }),
    models: z
      .array(z.object({ model: z.string(), name: z.string(), ...sums }))
      .meta({ description: 'Highest spend first.' }),
  })
  .meta({ id: 'UsageRecord' });
export type UsageRecord = z.infer<typeof UsageRecord>;

/** @param rows Oldest day first, so that a model has the name that it had last. */
export function shapeUsage(
  { fromDay, toDay }: Pick<UsageRange, 'fromDay' | 'toDay'>,
  rows: readonly UsageRow[],
): UsageRecord {
  const total = nothing();
  const days = new Map<string, Sum>();
  const models = new Map<string, Sum & { name: string }>();
  for (const row of rows) {
    const day = days.get(row.day) ?? nothing();
    const model = models.get(row.model) ?? { ...nothing(), name: row.modelName };
    model.name = row.modelName;
    for (const sum of [total, day, model]) add(sum, row);
    days.set(row.day, day);
    models.set(row.model, model);
  }
  return {
    from: fromDay,
    to: toDay,
    total: shapeSum(total),
    days: Array.from(days, ([day, sum]) => ({ day, ...shapeSum(sum) })),
    models: [...models]
      .sort(([idA, a], [idB, b]) => compare(b.nanoUsd, a.nanoUsd) || b.calls - a.calls || compare(idA, idB))
      .map(([model, sum]) => ({ model, name: sum.name, ...shapeSum(sum) })),
  };
}

interface Sum {
  nanoUsd: NanoUsd;
  calls: number;
  tokens: number;
}

const nothing = (): Sum => ({ nanoUsd: 0n, calls: 0, tokens: 0 });

function add(sum: Sum, row: UsageRow): void {
  sum.nanoUsd += row.chargedNanoUsd;
  sum.calls += row.calls;
  sum.tokens += row.tokens;
}

const shapeSum = ({ nanoUsd, calls, tokens }: Sum) => ({ usd: formatUsd(nanoUsd), calls, tokens });

const compare = <T extends bigint | string>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);
