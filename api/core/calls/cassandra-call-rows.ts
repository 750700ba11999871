import type { types } from 'cassandra-driver';
import { z } from 'zod';
import { idTimeMs } from '../ids.ts';
import type { CallRecord } from './call-record.ts';
import { dayOf } from './day-number.ts';

/** Under which day a call stands: that of its id, by which pages are ordered, and not that of its start. */
export const callDay = (callId: number): number => dayOf(idTimeMs(callId));

/** What both tables of calls have, in the order of `toCallValues`. */
export const CALL_COLUMNS = [
  ...['agent_id', 'day', 'call_id', 'started_at_ms', 'duration_ms', 'key_id', 'key_label', 'key_prefix'],
  ...['model', 'model_name', 'endpoint', 'stream', 'outcome', 'http_status', 'error_code'],
  ...['prompt_tokens', 'completion_tokens', 'reasoning_tokens', 'cached_tokens'],
  ...['reserved_nano_usd', 'charged_nano_usd', 'tokens_estimated'],
].join(', ');

/** A null would be a tombstone, and what is left out would not replace what stood there before. */
const NONE = -1;

export function toCallValues(record: CallRecord): (bigint | number | string | boolean)[] {
  const { callId, agentId, key, call, tokens } = record;
  return [
    BigInt(agentId),
    callDay(callId),
    BigInt(callId),
    BigInt(record.startedAtMs),
    BigInt(record.durationMs),
    BigInt(key.keyId),
    key.label,
    key.prefix,
    call.model,
    call.modelName,
    call.endpoint,
    call.stream,
    record.outcome,
    record.httpStatus ?? NONE,
    record.errorCode ?? '',
    BigInt(tokens.prompt),
    BigInt(tokens.completion),
    BigInt(tokens.reasoning ?? NONE),
    BigInt(tokens.cached),
    record.reservedNanoUsd,
    record.chargedNanoUsd,
    tokens.estimated === true,
  ];
}

/** Plain checks: transforms double the garbage of a page, whose collection is most of what the slowest pages take. */
const callRow = z.object({
  agent_id: z.bigint(),
  call_id: z.bigint(),
  started_at_ms: z.bigint(),
  duration_ms: z.bigint(),
  key_id: z.bigint(),
  key_label: z.string(),
  key_prefix: z.string(),
  model: z.string(),
  model_name: z.string(),
  endpoint: z.string(),
  stream: z.boolean(),
  outcome: z.enum(['running', 'pending', 'ok', 'stopped', 'failed']),
  http_status: z.int(),
  error_code: z.string(),
  prompt_tokens: z.bigint(),
  completion_tokens: z.bigint(),
  reasoning_tokens: z.bigint(),
  cached_tokens: z.bigint(),
  reserved_nano_usd: z.bigint(),
  charged_nano_usd: z.bigint(),
  /** Rows of a release before schema version 6 have none: their tokens count as counted. */
  tokens_estimated: z.boolean().nullable(),
});

export function toCallRecord(row: types.Row): CallRecord {
  const of = callRow.parse(row);
  return {
    callId: Number(of.call_id),
    agentId: Number(of.agent_id),
    startedAtMs: Number(of.started_at_ms),
    durationMs: Number(of.duration_ms),
    key: { keyId: Number(of.key_id), label: of.key_label, prefix: of.key_prefix },
    call: { model: of.model, modelName: of.model_name, endpoint: of.endpoint, stream: of.stream },
    outcome: of.outcome,
    httpStatus: of.http_status === NONE ? null : of.http_status,
    errorCode: of.error_code === '' ? null : of.error_code,
    tokens: {
      prompt: Number(of.prompt_tokens),
      completion: Number(of.completion_tokens),
      reasoning: of.reasoning_tokens === BigInt(NONE) ? null : Number(of.reasoning_tokens),
      cached: Number(of.cached_tokens),
      ...(of.tokens_estimated === true ? { estimated: true } : {}),
    },
    reservedNanoUsd: of.reserved_nano_usd,
    chargedNanoUsd: of.charged_nano_usd,
  };
}
