import { isUtf8 } from 'node:buffer';
import type { TokenCounts } from '#core/events/ledger-event.ts';
import { isRecord } from '#core/is-record.ts';
import { BALANCE_CAP_NANO_USD, REPORTED_TOKENS_MAX } from '#core/limits.ts';
import { type AttoUsd, nanoToAtto, parseAttoUsd } from '#core/money.ts';
import {
  isOnce,
  type JsonObject,
  memberBytes,
  memberText,
  readJsonObject,
  scanJsonObject,
} from './json-object.ts';

/** What a provider reported of one answer. A counter that is no sane number counts as missing, never as zero. */
export interface Usage {
  tokens: TokenCounts;
  /** Of those written to the cache, the ones for an hour: they are dearer. No event keeps them apart. */
  cacheWritten1h: number;
  /** Searches that the model ran by itself, each at a price of its own. No event keeps them apart. */
  webSearches: number;
  /** Dollars the provider charged us; `null` where it named none or no sane one. An explicit zero stays zero. */
  reportedAttoUsd: AttoUsd | null;
}

/** A usage record as it was sent, and what could be read of it. */
export interface SentUsage {
  object: JsonObject;
  /** `null`: neither tokens nor cost. */
  usage: Usage | null;
}

/** A format's own names for the counters. `null`: too few of them are there to tell the tokens. */
export type ReadCounts = (usage: Record<string, unknown>) => Omit<Usage, 'reportedAttoUsd'> | null;

/** Of a whole answer, whose value was parsed for other reasons too. `null`: none that is an object. */
export function usageOfAnswer(
  answer: JsonObject,
  value: Record<string, unknown>,
  counts: ReadCounts,
): SentUsage | null {
  const bytes = memberBytes(answer, 'usage');
  if (bytes === undefined) return null;
  const object = isUtf8(bytes) ? scanJsonObject(bytes) : 'not_an_object';
  // Where it stands twice the first counts, and JSON.parse shows the last.
  if (typeof object === 'string' || !isRecord(value.usage) || !isOnce(answer, 'usage'))
    return readUsage(bytes, counts);
  return { object, usage: parseUsage(object, value.usage, counts) };
}

/** Of the object alone. `null`: no object. */
export function readUsage(bytes: Buffer, counts: ReadCounts): SentUsage | null {
  const read = isUtf8(bytes) ? readJsonObject(bytes) : 'not_an_object';
  return typeof read === 'string'
    ? null
    : { object: read.object, usage: parseUsage(read.object, read.value, counts) };
}

/** The cost is read from its text, so that no float comes between the provider's bill and the charge. */
function parseUsage(object: JsonObject, value: Record<string, unknown>, counts: ReadCounts): Usage | null {
  const counted = counts(value);
  const reportedAttoUsd = reportedCost(object, value.is_byok === true);
  if (counted !== null) return { ...counted, reportedAttoUsd };
  return reportedAttoUsd === null ? null : { tokens: noTokens, ...nothingApart, reportedAttoUsd };
}

export const chatCounts: ReadCounts = (value) => {
  const hit = count(value.prompt_cache_hit_tokens);
  const miss = count(value.prompt_cache_miss_tokens);
  return wholeCounts({
    prompt: count(value.prompt_tokens) ?? (hit === null || miss === null ? null : hit + miss),
    completion: count(value.completion_tokens),
    total: count(value.total_tokens),
    promptDetails: record(value.prompt_tokens_details),
    completionDetails: record(value.completion_tokens_details),
    // Some servers count these beside the details, or have no details.
    cached: hit ?? count(value.cached_tokens),
    reasoning: count(value.reasoning_tokens),
  });
};

export const responsesCounts: ReadCounts = (value) =>
  wholeCounts({
    prompt: count(value.input_tokens),
    completion: count(value.output_tokens),
    total: count(value.total_tokens),
    promptDetails: record(value.input_tokens_details),
    completionDetails: record(value.output_tokens_details),
    cached: null,
    reasoning: null,
  });

interface SentCounts {
  prompt: number | null;
  completion: number | null;
  total: number | null;
  promptDetails: Record<string, unknown> | null;
  completionDetails: Record<string, unknown> | null;
  /** Said outside the details. */
  cached: number | null;
  reasoning: number | null;
}

function wholeCounts(sent: SentCounts): ReturnType<ReadCounts> {
  const { prompt, completion, total } = sent;
  if (prompt === null || completion === null) return null;
  return {
    tokens: {
      prompt,
      // One vendor leaves thinking out of the answer's tokens but not out of the total, and bills it.
      completion: total === null ? completion : Math.max(completion, total - prompt),
      reasoning: count(sent.completionDetails?.reasoning_tokens) ?? sent.reasoning,
      ...promptDetails(sent, prompt),
    },
    ...nothingApart,
  };
}

/** What came from the cache or went to it stands beside `input_tokens`, not in it. */
export const messagesCounts: ReadCounts = (value) => {
  const input = count(value.input_tokens);
  const completion = count(value.output_tokens);
  if (input === null || completion === null) return null;
  const cached = count(value.cache_read_input_tokens) ?? 0;
  const cacheWritten = count(value.cache_creation_input_tokens) ?? 0;
  return {
    tokens: {
      prompt: input + cached + cacheWritten,
      completion,
      reasoning: count(record(value.output_tokens_details)?.thinking_tokens),
      cached,
      ...(cacheWritten === 0 ? {} : { cacheWritten }),
    },
    cacheWritten1h: Math.min(
      count(record(value.cache_creation)?.ephemeral_1h_input_tokens) ?? 0,
      cacheWritten,
    ),
    webSearches: count(record(value.server_tool_use)?.web_search_requests) ?? 0,
  };
};

/** What was read from the cache and what was written to it are parts of the prompt. */
function promptDetails(
  { promptDetails: details, cached: beside }: SentCounts,
  prompt: number,
): Pick<TokenCounts, 'cached' | 'cacheWritten'> {
  const cached = Math.min(count(details?.cached_tokens) ?? beside ?? 0, prompt);
  const cacheWritten = Math.min(count(details?.cache_write_tokens) ?? 0, prompt - cached);
  return cacheWritten === 0 ? { cached } : { cached, cacheWritten };
}

/** What is billed beside the tokens of an event. */
export type CountedApart = Pick<Usage, 'cacheWritten1h' | 'webSearches'>;

export const nothingApart: CountedApart = { cacheWritten1h: 0, webSearches: 0 };
export const noTokens: TokenCounts = { prompt: 0, completion: 0, reasoning: null, cached: 0 };

function reportedCost(usage: JsonObject, isByok: boolean): AttoUsd | null {
  const cost = saneCost(memberText(usage, 'cost'));
  if (cost === null || !isByok) return cost;
  // With the operator's own key at the provider, `cost` is only the router's fee: without the other bill nothing is known.
  const details = memberBytes(usage, 'cost_details');
  const object = details === undefined ? 'not_an_object' : scanJsonObject(details);
  const text = typeof object === 'string' ? undefined : memberText(object, 'upstream_inference_cost');
  const upstreamCost = saneCost(text);
  return upstreamCost === null ? null : cost + upstreamCost;
}

const COST_MAX = nanoToAtto(BALANCE_CAP_NANO_USD);
const MINUS_ZERO = /^-0(?:\.0+)?(?:[eE][+-]?\d+)?$/;

/** Negative, not a number, or more than any balance can hold: not a price. */
function saneCost(text: string | undefined): AttoUsd | null {
  if (text === undefined) return null;
  const atto = MINUS_ZERO.test(text) ? 0n : parseAttoUsd(text);
  return atto === null || atto > COST_MAX ? null : atto;
}

const count = (value: unknown): number | null =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= REPORTED_TOKENS_MAX
    ? value
    : null;

const record = (value: unknown): Record<string, unknown> | null => (isRecord(value) ? value : null);
