import type { types } from 'cassandra-driver';
import { z } from 'zod';
import type { UsageRow } from './call-history.ts';
import { dayText } from './day-number.ts';
import type { UsageSum } from './history-store.ts';

/** The month of a day, as `2026-11`. */
export const monthOf = (day: number): string => dayText(day).slice(0, 7);

export const USAGE_COLUMNS =
  'agent_id, month, day, model, model_name, calls, tokens, charged_nano_usd, epoch, seq';

export const toUsageValues = (sum: UsageSum): (bigint | number | string)[] => [
  BigInt(sum.agentId),
  monthOf(sum.day),
  sum.day,
  sum.model,
  sum.modelName,
  BigInt(sum.calls),
  BigInt(sum.tokens),
  sum.chargedNanoUsd,
  BigInt(sum.epoch),
  BigInt(sum.seq),
];

const count = z.bigint().transform(Number);
const usageRow = z.object({
  agent_id: count,
  day: z.int(),
  model: z.string(),
  model_name: z.string(),
  calls: count,
  tokens: count,
  charged_nano_usd: z.bigint(),
  epoch: count,
  seq: count,
});

export function toUsageSum(row: types.Row): UsageSum {
  const { agent_id, model_name, charged_nano_usd, ...same } = usageRow.parse(row);
  return {
    ...same,
    agentId: agent_id,
    modelName: model_name,
    chargedNanoUsd: charged_nano_usd,
  };
}

export function toUsageRow(row: types.Row): UsageRow {
  const { day, model, modelName, calls, tokens, chargedNanoUsd } = toUsageSum(row);
  return { day: dayText(day), model, modelName, calls, tokens, chargedNanoUsd };
}
