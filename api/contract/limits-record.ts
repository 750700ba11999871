import { z } from 'zod';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import type { AgentView, KeyView } from '#core/ledger/ledger.ts';
import {
  GIGABYTE,
  type Limits,
  MEGABYTE,
  RESULT_LINK_MS,
  RESULTS_BYTES_MAX,
  UPLOAD_BYTES_MAX,
  UPLOAD_LINK_MS,
} from '#core/limits.ts';
import { isActiveKey, SpendingLimit, shapeSpendingLimit } from './key-record.ts';

/** Spec: Limits record. The agent's limits are shared by all its keys. */
export const LimitsRecord = z
  .object({
    key: z.object({
      id: z.int(),
      label: z.string(),
      prefix: z.string().meta({ description: 'Leading characters of the key, for recognition.' }),
      can_manage_keys: z.boolean().meta({ description: 'True for a key without a spending limit.' }),
      spending_limit: SpendingLimit.nullable(),
    }),
    agent: z.object({
      calls_per_minute: z.int(),
      burst: z.int().meta({ description: 'Calls that may start at once after a pause.' }),
      max_running_calls: z.int(),
      running_calls: z.int(),
      max_active_keys: z.int(),
      active_keys: z.int(),
    }),
    request: z.object({
      max_body_mb: z.int(),
      max_stream_minutes: z.int(),
      max_call_minutes: z.int().meta({ description: 'Of calls that are not streamed.' }),
    }),
    mcp: z.object({
      requests_per_minute: z.int().meta({ description: 'Of each key.' }),
      burst: z.int(),
      keys_per_day: z.int().meta({ description: 'Keys that may be made over MCP in any 24 hours.' }),
    }),
    images: z.object({
      uploads_per_day: z.int(),
      max_upload_mb: z.int(),
      upload_link_hours: z.int(),
      result_link_days: z.int(),
      max_results_gb: z.int(),
    }),
  })
  .meta({ id: 'LimitsRecord' });
export type LimitsRecord = z.infer<typeof LimitsRecord>;

export function shapeLimits(agent: AgentView, key: KeyView, limits: Limits): LimitsRecord {
  return {
    key: {
      id: key.keyId,
      label: key.label,
      prefix: key.prefix,
      can_manage_keys: key.limit === null,
      spending_limit: key.limit === null ? null : shapeSpendingLimit(key.limit),
    },
    agent: {
      calls_per_minute: limits.callsPerMinute,
      burst: limits.burst,
      max_running_calls: limits.runningCalls,
      running_calls: agent.runningCalls,
      max_active_keys: limits.activeKeys,
      active_keys: agent.keys.filter(isActiveKey).length,
    },
    request: {
      max_body_mb: whole(limits.requestBodyBytes, MEGABYTE),
      max_stream_minutes: whole(limits.streamMs, MINUTE_MS),
      max_call_minutes: whole(limits.callMs, MINUTE_MS),
    },
    mcp: {
      requests_per_minute: limits.mcpRequestsPerMinute,
      burst: limits.mcpBurst,
      keys_per_day: limits.mcpKeysPerDay,
    },
    images: {
      uploads_per_day: limits.uploadsPerDay,
      max_upload_mb: whole(UPLOAD_BYTES_MAX, MEGABYTE),
      upload_link_hours: whole(UPLOAD_LINK_MS, HOUR_MS),
      result_link_days: whole(RESULT_LINK_MS, DAY_MS),
      max_results_gb: whole(RESULTS_BYTES_MAX, GIGABYTE),
    },
  };
}

/** The spec shows whole units. Rounded down: what is shown is allowed. */
const whole = (value: number, unit: number): number => Math.floor(value / unit);
