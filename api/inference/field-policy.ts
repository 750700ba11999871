import { isRecord } from '#core/is-record.ts';
import { type ApiError, apiError } from '../contract/errors.ts';
import { chatFieldRules } from './formats/chat-fields.ts';

/** Fields of a chat body that may not stand in it, or not so. `null`: all are served. */
export function refuseFields(body: Readonly<Record<string, unknown>>): ApiError | null {
  for (const field of Object.keys(body)) {
    const refusal = refuseSpelling(field) ?? refuseByRule(field, body[field]);
    if (refusal !== null) return refusal;
  }
  return refuseProviderOptions(body.provider) ?? refuseReasoningCap(body.reasoning);
}

function refuseByRule(field: string, given: unknown): ApiError | null {
  const rule = chatFieldRules.get(field);
  if (rule?.rule !== 'refuse' || given === null || rule.unless?.(given) === true) return null;
  return apiError(rule.code, { param: field, message: `\`${field}\` is not served: ${rule.because}.` });
}

/** What the gateway reads or writes itself, besides the fields that have a rule. */
const readFields: readonly string[] = [
  'model',
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'n',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'models',
  'plugins',
  'provider',
  'reasoning',
  'prediction',
  'user',
  'session_id',
  'prompt_cache_key',
  'safety_identifier',
];
const ownFields: ReadonlySet<string> = new Set([...readFields, ...chatFieldRules.keys()]);

/**
 * Servers written in Go take `MAX_TOKENS` for `max_tokens`, and the last of them wins: the hold would be made of
 * one, the answer of the other.
 */
function refuseSpelling(field: string): ApiError | null {
  if (ownFields.has(field)) return null;
  // Upper case first: it also folds the long s, lower case then the Kelvin sign.
  const folded = field.toUpperCase().toLowerCase();
  if (folded === field || !ownFields.has(folded)) return null;
  return apiError('invalid_request', { param: folded, message: `Write \`${folded}\` in small letters.` });
}

/** `provider.options` passes settings to one vendor that no price list covers. */
function refuseProviderOptions(provider: unknown): ApiError | null {
  if (provider === undefined || provider === null) return null;
  if (!isRecord(provider)) {
    return apiError('invalid_request', { param: 'provider', message: '`provider` has to be an object.' });
  }
  if (provider.options === undefined || provider.options === null) return null;
  return apiError('invalid_request', {
    param: 'provider.options',
    message: '`provider.options` is not served: it changes the price in a way that cannot be reserved.',
  });
}

/** It counts towards the hold, so it is as strict as the other caps. */
function refuseReasoningCap(reasoning: unknown): ApiError | null {
  const cap = isRecord(reasoning) ? reasoning.max_tokens : undefined;
  if (cap === undefined || cap === null || (Number.isSafeInteger(cap) && Number(cap) >= 0)) return null;
  return apiError('invalid_request', {
    param: 'reasoning.max_tokens',
    message: '`reasoning.max_tokens` has to be a whole number of tokens.',
  });
}
