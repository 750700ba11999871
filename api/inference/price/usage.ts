import { isUtf8 } from 'node:buffer';
import type { TokenCounts } from '#core/events/ledger-event.ts';
import { BALANCE_CAP_NANO_USD } from '#core/limits.ts';
import { type AttoUsd, nanoToAtto, parseAttoUsd } from '#core/money.ts';
import { usageNames } from '../../providers/usage-names.ts';
import {
  type JsonObject,
  memberBytes,
  memberText,
  readJsonObject,
  scanJsonObject,
} from '../json/json-object.ts';
import {
  type Counters,
  laterCounters,
  readCounters,
  type UsageReading,
  wholeCounts,
} from './usage-counters.ts';

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
  /** Each counter by itself: a record of a stream need not have all of them. */
  counters: Counters;
  reportedAttoUsd: AttoUsd | null;
  /** `null`: the record has neither a cost nor the counters of both prompt and answer. */
  usage: Usage | null;
}

export const chatCounts: UsageReading = { names: usageNames.chat, hasCachesBeside: false };
export const responsesCounts: UsageReading = { names: usageNames.responses, hasCachesBeside: false };
/** What came from the cache or went to it stands beside `input_tokens`, not in it. */
export const messagesCounts: UsageReading = { names: usageNames.messages, hasCachesBeside: true };

/** The record of a whole answer. `null`: it has no object there. */
export function usageOfAnswer(answer: JsonObject, reading: UsageReading): SentUsage | null {
  const bytes = memberBytes(answer, 'usage');
  return bytes === undefined ? null : readUsage(bytes, reading);
}

/** A record by itself. `null`: no object. */
export function readUsage(bytes: Buffer, reading: UsageReading): SentUsage | null {
  const read = isUtf8(bytes) ? readJsonObject(bytes) : 'not_an_object';
  if (typeof read === 'string') return null;
  const { object, value } = read;
  const counters = readCounters(value, reading);
  // Read from its text, so that no float comes between the provider's bill and the charge.
  const reportedAttoUsd = reportedCost(object, value.is_byok === true);
  return { object, counters, reportedAttoUsd, usage: usageOf(counters, reportedAttoUsd, reading) };
}

function usageOf(counters: Counters, reportedAttoUsd: AttoUsd | null, reading: UsageReading): Usage | null {
  const counts = wholeCounts(counters, reading);
  if (counts !== null) return { ...counts, reportedAttoUsd };
  return reportedAttoUsd === null ? null : { tokens: noTokens, ...nothingApart, reportedAttoUsd };
}

/**
 * The records of one stream together. A later one replaces what an earlier one said, counter by counter, unless it says zero
 * or nothing: many servers repeat their counters with zeros at an end.
 */
export class StreamUsage {
  readonly #reading: UsageReading;
  #counters: Counters | null = null;
  #reportedAttoUsd: AttoUsd | null = null;
  /** The tokens of the answer that were counted when the cost was said; zero: none were. */
  #costTokens = 0;
  /** The last record that said anything, as it was sent; `null`: none was an object. */
  object: JsonObject | null = null;
  usage: Usage | null = null;
  /** Whether a record came with the end of the answer or behind it: counters that come before an end may still change. */
  isFinal = false;

  constructor(reading: UsageReading) {
    this.#reading = reading;
  }

  add(bytes: Buffer): void {
    const sent = readUsage(bytes, this.#reading);
    if (sent !== null) this.addRead(sent);
  }

  /** Zeros behind a count repeat nothing that was counted, so they do not make it final. */
  addFinal(bytes: Buffer): void {
    const sent = readUsage(bytes, this.#reading);
    if (sent === null) return;
    this.addRead(sent);
    const { counters, reportedAttoUsd } = sent;
    const saysAnswer = (counters.completion ?? 0) > 0 || reportedAttoUsd !== null;
    if (saysAnswer || (this.#counters?.completion ?? 0) === 0) this.isFinal = true;
  }

  /** A cost that is said before there is an answer is none of it. */
  addEarly(bytes: Buffer): void {
    const sent = readUsage(bytes, this.#reading);
    if (sent !== null) this.addRead({ ...sent, reportedAttoUsd: null });
  }

  /** The answer went on after a record that came with its end. */
  reopen(): void {
    this.isFinal = false;
  }

  /** The records as if they were one; `null`: none was an object. */
  get together(): SentUsage | null {
    if (this.object === null || this.#counters === null) return null;
    const { object, usage } = this;
    return { object, counters: this.#counters, reportedAttoUsd: this.#reportedAttoUsd, usage };
  }

  /** Whether the records tell what the answer came to. Otherwise one may still follow the end mark. */
  get isWhole(): boolean {
    if (this.usage === null || !this.isFinal) return false;
    const { tokens, reportedAttoUsd } = this.usage;
    return reportedAttoUsd !== null || (tokens.prompt > 0 && tokens.completion > 0);
  }

  addRead({ object, counters, reportedAttoUsd, usage }: SentUsage): void {
    // A cost that was said with fewer tokens of the answer is not the cost of all of them.
    const isGreater = this.#costTokens > 0 && (counters.completion ?? 0) > this.#costTokens;
    if (isGreater && reportedAttoUsd === null) this.#reportedAttoUsd = null;
    this.#counters = this.#counters === null ? counters : laterCounters(this.#counters, counters);
    // A zero never takes the place of a cost, as with counters.
    if (reportedAttoUsd !== null) this.#costTokens = this.#counters.completion ?? 0;
    this.#reportedAttoUsd = reportedAttoUsd || (this.#reportedAttoUsd ?? reportedAttoUsd);
    this.usage = usageOf(this.#counters, this.#reportedAttoUsd, this.#reading);
    if (usage !== null || this.object === null) this.object = object;
  }
}

/** What is billed beside the tokens of an event. */
export type CountedApart = Pick<Usage, 'cacheWritten1h' | 'webSearches'>;

export const nothingApart: CountedApart = { cacheWritten1h: 0, webSearches: 0 };
export const noTokens: TokenCounts = { prompt: 0, completion: 0, reasoning: null, cached: 0 };

function reportedCost(usage: JsonObject, isByok: boolean): AttoUsd | null {
  const cost = plausibleCost(memberText(usage, 'cost'));
  if (cost === null || !isByok) return cost;
  // With the operator's own key at the provider, `cost` is only the router's fee: without the other bill nothing is known.
  const details = memberBytes(usage, 'cost_details');
  const object = details === undefined ? 'not_an_object' : scanJsonObject(details);
  const text = typeof object === 'string' ? undefined : memberText(object, 'upstream_inference_cost');
  const upstreamCost = plausibleCost(text);
  return upstreamCost === null ? null : cost + upstreamCost;
}

const COST_MAX = nanoToAtto(BALANCE_CAP_NANO_USD);
const MINUS_ZERO = /^-0(?:\.0+)?(?:[eE][+-]?\d+)?$/;

/** Negative, not a number, or more than any balance can hold: not a price. */
function plausibleCost(text: string | undefined): AttoUsd | null {
  if (text === undefined) return null;
  const atto = MINUS_ZERO.test(text) ? 0n : parseAttoUsd(text);
  return atto === null || atto > COST_MAX ? null : atto;
}
