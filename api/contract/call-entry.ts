import { z } from 'zod';
import type { CallRecord } from '#core/calls/call-record.ts';
import { isoTime } from '#core/clock.ts';
import type { CallId } from '#core/ids.ts';
import { formatUsd } from '#core/money.ts';
import { usdText } from './money.ts';

const KeySummary = z
  .object({ id: z.int(), label: z.string(), prefix: z.string() })
  .meta({ id: 'KeySummary' });

const CallTokens = z
  .object({
    prompt: z.int(),
    completion: z.int(),
    reasoning: z.int().nullable(),
    cached: z.int(),
    estimated: z.boolean().optional().meta({
      description: 'True when the provider did not count the tokens, or not all of them; absent when it did.',
    }),
  })
  .meta({ id: 'CallTokens' });

/** Spec: Call record. */
export const CallEntry = z
  .object({
    id: z.int(),
    started_at: z.iso.datetime(),
    duration_ms: z.int(),
    key: KeySummary,
    model: z.string(),
    model_name: z.string(),
    endpoint: z.string(),
    stream: z.boolean(),
    outcome: z.enum(['running', 'pending', 'ok', 'stopped', 'failed']),
    http_status: z.int().optional().meta({ description: 'Of failed calls.' }),
    error_code: z.string().nullable(),
    tokens: CallTokens,
    reserved_usd: usdText().meta({ description: 'Set aside at the start.' }),
    charge_usd: usdText().meta({ description: 'Cost; 0 until priced.' }),
  })
  .meta({ id: 'CallEntry' });
export type CallEntry = z.infer<typeof CallEntry>;

export function shapeCallRecord(record: CallRecord): CallEntry {
  const { call, key, tokens } = record;
  const failed = record.outcome === 'failed' && record.httpStatus !== null;
  return {
    id: record.callId,
    started_at: isoTime(record.startedAtMs),
    duration_ms: record.durationMs,
    key: { id: key.keyId, label: key.label, prefix: key.prefix },
    model: call.model,
    model_name: call.modelName,
    endpoint: call.endpoint,
    stream: call.stream,
    outcome: record.outcome,
    ...(failed ? { http_status: record.httpStatus ?? undefined } : {}),
    error_code: record.errorCode,
    tokens: {
      prompt: tokens.prompt,
      completion: tokens.completion,
      reasoning: tokens.reasoning,
      cached: tokens.cached,
      ...(tokens.estimated === true ? { estimated: true } : {}),
    },
    reserved_usd: formatUsd(record.reservedNanoUsd),
    charge_usd: formatUsd(record.chargedNanoUsd),
  };
}

/** The answer of `list_calls`. */
export const CallPage = z
  .object({
    calls: z.array(CallEntry).meta({ description: 'Newest first.' }),
    next: z
      .string()
      .nullable()
      .meta({ description: 'Pass it as `before` for the next page; null on the last one.' }),
  })
  .meta({ id: 'CallPage' });
export type CallPage = z.infer<typeof CallPage>;

/** The last call of a page, as callers pass it back. They need not know what it is made of, so it may change. */
export const writeCallCursor = (callId: CallId): string => `c${callId.toString(36)}`;

/** `null`: none of ours. */
export function readCallCursor(text: string): CallId | null {
  if (!/^c[0-9a-z]{1,11}$/.test(text)) return null;
  const callId = Number.parseInt(text.slice(1), 36);
  return Number.isSafeInteger(callId) && writeCallCursor(callId) === text ? callId : null;
}
