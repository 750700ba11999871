import { isRecord } from '#core/is-record.ts';
import type { UsageNames } from '../../providers/usage-names.ts';
import type { Usage } from './usage.ts';

/** A provider's count above this is ignored as implausible. */
const REPORTED_TOKENS_MAX = 1_000_000_000;

/** How the records of one format are read. */
export interface UsageReading {
  names: UsageNames;
  /** What came from a cache or went to it is no part of the prompt's counter. */
  hasCachesBeside: boolean;
}

/** What one record says; `null`: nothing of that kind. */
export interface Counters {
  prompt: number | null;
  promptBeside: number | null;
  cached: number | null;
  cacheWritten: number | null;
  cacheWritten1h: number | null;
  /** Reasoning included, wherever the vendor counts it. */
  completion: number | null;
  reasoning: number | null;
  webSearches: number | null;
  /** What a model read and wrote to make its context smaller: no other counter of the record has it. */
  compactionPrompt: number | null;
  compactionCompletion: number | null;
}

/**
 * Of several names for one counter the greatest number counts: vendors fill the name that they mean and leave zeros in the others.
 */
export function readCounters(value: Record<string, unknown>, reading: UsageReading): Counters {
  const { names } = reading;
  const hour = greatest(value, names.cacheWritten1h);
  const fiveMinutes = greatest(value, names.cacheWritten5m);
  const byTime = hour === null && fiveMinutes === null ? null : (hour ?? 0) + (fiveMinutes ?? 0);
  const counters: Counters = {
    prompt: greatest(value, names.prompt),
    promptBeside: greatest(value, names.promptBeside),
    cached: greatest(value, names.cached),
    cacheWritten: greaterOf(greatest(value, names.cacheWritten), byTime),
    cacheWritten1h: hour,
    completion: greatest(value, names.completion),
    reasoning: greatest(value, names.reasoning),
    webSearches: greatest(value, names.webSearches),
    compactionPrompt: null,
    compactionCompletion: null,
  };
  if (reading.hasCachesBeside) addCompactions(value, counters);
  else balance(counters, greatest(value, names.total));
  return counters;
}

/**
 * The total tells what a vendor leaves out of the other two counters: caches that are greater than the prompt stand beside it,
 * and what is left beyond the prompt was written, reasoning above all, also where the answer has no counter. Without a total, reasoning that is greater than the answer
 * cannot be a part of it. A total that is the sum of both is believed, so nothing is counted twice, but for caches that are greater than the prompt: gateways of
 * Claude's accounts (CLIProxyAPI#2281) add up the two counters and leave the caches out of both.
 */
function balance(counters: Counters, total: number | null): void {
  const { prompt, cached, cacheWritten, completion, reasoning } = counters;
  const ofCaches = (cached ?? 0) + (cacheWritten ?? 0);
  if (prompt !== null && total !== null && ofCaches > prompt) counters.prompt = prompt + ofCaches;
  const read = wholePrompt(counters, false);
  if (completion === null) {
    if (read !== null && total !== null && total >= read) counters.completion = total - read;
    return;
  }
  if (read !== null && total !== null) counters.completion = Math.max(completion, total - read);
  else if (reasoning !== null && reasoning > completion) counters.completion = completion + reasoning;
}

function addCompactions({ iterations }: Record<string, unknown>, counters: Counters): void {
  if (!Array.isArray(iterations)) return;
  for (const each of iterations) {
    if (!isRecord(each) || each.type !== 'compaction') continue;
    counters.compactionPrompt = (counters.compactionPrompt ?? 0) + (count(each.input_tokens) ?? 0);
    counters.compactionCompletion = (counters.compactionCompletion ?? 0) + (count(each.output_tokens) ?? 0);
  }
}

/** A counter that is zero or absent never takes the place of one that the same answer gave before. */
export function laterCounters(known: Counters, later: Counters): Counters {
  return {
    prompt: laterOf(known.prompt, later.prompt),
    promptBeside: laterOf(known.promptBeside, later.promptBeside),
    cached: laterOf(known.cached, later.cached),
    cacheWritten: laterOf(known.cacheWritten, later.cacheWritten),
    cacheWritten1h: laterOf(known.cacheWritten1h, later.cacheWritten1h),
    completion: laterOf(known.completion, later.completion),
    reasoning: laterOf(known.reasoning, later.reasoning),
    webSearches: laterOf(known.webSearches, later.webSearches),
    compactionPrompt: laterOf(known.compactionPrompt, later.compactionPrompt),
    compactionCompletion: laterOf(known.compactionCompletion, later.compactionCompletion),
  };
}

const laterOf = (known: number | null, later: number | null): number | null =>
  later === null || (later === 0 && known !== null) ? known : later;

/** `null`: too few of the counters are there to tell the tokens. */
export function wholeCounts(
  counters: Counters,
  { hasCachesBeside }: UsageReading,
): Omit<Usage, 'reportedAttoUsd'> | null {
  const { completion, reasoning } = counters;
  const read = wholePrompt(counters, hasCachesBeside);
  if (read === null || completion === null) return null;
  const prompt = Math.min(read + (counters.compactionPrompt ?? 0), REPORTED_TOKENS_MAX);
  const cached = Math.min(counters.cached ?? 0, prompt);
  const cacheWritten = Math.min(counters.cacheWritten ?? 0, prompt - cached);
  return {
    tokens: {
      prompt,
      completion: Math.min(completion + (counters.compactionCompletion ?? 0), REPORTED_TOKENS_MAX),
      reasoning,
      cached,
      ...(cacheWritten === 0 ? {} : { cacheWritten }),
    },
    cacheWritten1h: Math.min(counters.cacheWritten1h ?? 0, cacheWritten),
    webSearches: counters.webSearches ?? 0,
  };
}

/** A vendor that names no whole prompt tells what missed its cache and what did not. */
function wholePrompt(
  { prompt, promptBeside, cached, cacheWritten }: Counters,
  hasCachesBeside: boolean,
): number | null {
  const isParted = promptBeside !== null && (hasCachesBeside || cached !== null);
  return greaterOf(prompt, isParted ? promptBeside + (cached ?? 0) + (cacheWritten ?? 0) : null);
}

function greatest(value: Record<string, unknown>, paths: readonly (readonly string[])[]): number | null {
  let most: number | null = null;
  for (const path of paths) {
    let at: unknown = value;
    for (const name of path) at = isRecord(at) ? at[name] : undefined;
    const read = count(at);
    if (read !== null && (most === null || read > most)) most = read;
  }
  return most;
}

const greaterOf = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b);

/** Some servers print 64-bit integers as texts, as JSON of protocol buffers has them. */
function count(sent: unknown): number | null {
  const value = typeof sent === 'string' && DIGITS.test(sent) ? Number(sent) : sent;
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= REPORTED_TOKENS_MAX
    ? value
    : null;
}

const DIGITS = /^\d{1,10}$/;
