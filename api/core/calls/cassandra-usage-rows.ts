import type { types } from 'cassandra-driver';
import { z } from 'zod';
import type { UsageRow } from './call-history.ts';
import { dayText } from './day-number.ts';
import type { UsageSum } from './history-store.ts';

/** The month of a day, as `2026-11`. */
export const monthOf = (day: number): string => dayText(day).slice(0, 7);

const counted = z.object({
  modelName: z.string(),
  calls: z.int(),
  tokens: z.int(),
  chargedNanoUsd: z.string().regex(/^\d+$/),
  epoch: z.int(),
  seq: z.int(),
});

/** What stands under a model in the map of its day. */
export function formatCounted({ modelName, calls, tokens, chargedNanoUsd, epoch, seq }: UsageSum): string {
  const counts: z.infer<typeof counted> = {
    ...{ modelName, calls, tokens, epoch, seq },
    chargedNanoUsd: String(chargedNanoUsd),
  };
  return JSON.stringify(counts);
}

export function parseCounted(text: string): Omit<UsageSum, 'agentId' | 'day' | 'model'> {
  const counts = counted.parse(JSON.parse(text));
  return { ...counts, chargedNanoUsd: BigInt(counts.chargedNanoUsd) };
}

const dayRow = z.object({ day: z.int(), models: z.record(z.string(), z.string()) });

/** Of one row, which is a day. */
export function toUsageRows(row: types.Row): UsageRow[] {
  const { day: dayNumber, models } = dayRow.parse(row);
  const day = dayText(dayNumber);
  return Object.entries(models).map(([model, text]) => {
    const { modelName, calls, tokens, chargedNanoUsd } = parseCounted(text);
    return { day, model, modelName, calls, tokens, chargedNanoUsd };
  });
}
