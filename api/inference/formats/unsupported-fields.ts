import { isRecord } from '#core/is-record.ts';
import { booleanOf, numberOf, recordOf, records, strings, textOrNull } from './values.ts';

/** Names that are kept of the fields that are left out; a body may have thousands, and a header has room for few. */
const LEFT_OUT_MAX = 100;

/**
 * Collects what a translation has no words for. A field, or a member of a part or a tool, is left out, and its name is kept for the
 * caller. What the meaning of the request hangs on is not left out: the first such thing is the reason to refuse the call.
 */
export class UnsupportedFields {
  #first: UnsupportedField | null = null;
  readonly #leftOut = new Set<string>();
  readonly #hints = new Set<string>();
  readonly #isHistory: boolean;
  /** It keeps nothing, so one serves all. */
  static readonly #history = new UnsupportedFields(true);

  private constructor(isHistory: boolean) {
    this.#isHistory = isHistory;
  }

  static ofRequest(): UnsupportedFields {
    return new UnsupportedFields(false);
  }

  /** The members of earlier answers, which clients print back with more beside: nothing of them is named. */
  static ofHistory(): UnsupportedFields {
    return UnsupportedFields.#history;
  }

  /** The reason to refuse the call; `null`: there is none. */
  get first(): UnsupportedField | null {
    return this.#first;
  }

  /** The names of the fields that are left out, as the caller wrote them, such as `messages[0].name`. */
  get leftOut(): readonly string[] {
    return [...this.#leftOut];
  }

  /** The names of hints that are left out. They change no answer, so no call is refused for them. */
  get hints(): readonly string[] {
    return [...this.#hints];
  }

  /**
   * Names a part of the request that must not be left out.
   *
   * @param words What it is, where its place says too little.
   */
  add(param: string, words: string | null = null): void {
    if (!this.#isHistory) this.#first ??= { param, words };
  }

  leaveOut(param: string): void {
    if (!this.#isHistory && this.#leftOut.size < LEFT_OUT_MAX) this.#leftOut.add(param);
  }

  leaveOutHint(param: string): void {
    if (!this.#isHistory && this.#hints.size < LEFT_OUT_MAX) this.#hints.add(param);
  }

  /** `null`: not said. What is of another kind has no words either. */
  number(value: unknown, param: string): number | null {
    const number = numberOf(value);
    if (number === null) this.#unlessAbsent(value, param);
    return number;
  }

  boolean(value: unknown, param: string): boolean | null {
    const boolean = booleanOf(value);
    if (boolean === null) this.#unlessAbsent(value, param);
    return boolean;
  }

  text(value: unknown, param: string): string | null {
    const text = textOrNull(value);
    if (text === null) this.#unlessAbsent(value, param);
    return text;
  }

  record(value: unknown, param: string): Readonly<Record<string, unknown>> {
    if (!isRecord(value)) this.#unlessAbsent(value, param);
    return recordOf(value);
  }

  /** A list with nothing else in it. */
  records(value: unknown, param: string): Record<string, unknown>[] {
    const all = records(value);
    if (!Array.isArray(value) || all.length < value.length) this.#unlessAbsent(value, param);
    return all;
  }

  /** One, or a list. */
  texts(value: unknown, param: string): string[] {
    if (typeof value === 'string') return [value];
    const texts = strings(value);
    if (!Array.isArray(value) || texts.length < value.length) this.#unlessAbsent(value, param);
    return texts;
  }

  #unlessAbsent(value: unknown, param: string): void {
    if (value !== undefined && value !== null) this.leaveOut(param);
  }

  /**
   * Names every member that is set and not known.
   *
   * @param path The record's own, with a dot behind it; empty for the body.
   * @param hints `HINTS`, where members of these names may stand.
   */
  unknown(
    value: Readonly<Record<string, unknown>>,
    path: string,
    known: ReadonlySet<string>,
    hints: ReadonlySet<string> | null = null,
  ): void {
    for (const name of Object.keys(value)) {
      if (known.has(name)) continue;
      const member = value[name];
      if (member === undefined || member === null || saysNothing(name, member)) continue;
      if (hints?.has(name) !== true) this.leaveOut(path + name);
      else if (!HANDLED.has(name)) this.leaveOutHint(path + name);
    }
  }
}

export interface UnsupportedField {
  param: string;
  words: string | null;
}

/** A type as a refusal names it. */
export const typeName = (type: unknown): string => `\`${String(type).slice(0, TYPE_CHARS_SHOWN)}\``;
const TYPE_CHARS_SHOWN = 64;

/** What the gateway itself has read, and writes into every body; besides these, the format's own caps. */
export const OURS: ReadonlySet<string> = new Set(['model', 'models', 'stream']);

/** Some clients always send values that ask for what happens anyway. */
export const saysNothing = (name: string, value: unknown): boolean =>
  SAYS_NOTHING.get(name) === value || (name === 'service_tier' && USUAL_TIERS.has(value));

/** Whether a field of this name has such a value at all. */
export const maySayNothing = (name: string): boolean => SAYS_NOTHING.has(name) || name === 'service_tier';

const USUAL_TIERS: ReadonlySet<unknown> = new Set(['auto', 'default', 'standard', 'standard_only']);

const SAYS_NOTHING: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['n', 1],
  ['logprobs', false],
  ['top_logprobs', 0],
  ['frequency_penalty', 0],
  ['presence_penalty', 0],
  ['repetition_penalty', 1],
  ['min_p', 0],
  ['top_a', 0],
  ['best_of', 1],
  ['parallel_tool_calls', true],
  ['truncation', 'disabled'],
  ['defer_loading', false],
  ['speed', 'standard'],
  ['inference_geo', 'global'],
]);

/** The gateway acts on them itself, or policy takes no other value than the default. */
export const HANDLED: ReadonlySet<string> = new Set([
  ...['usage', 'provider', 'plugins', 'transforms', 'route', 'stream_options'],
  ...['modalities', 'store', 'background', 'deferred'],
  // Bounds of what the provider runs by itself.
  ...['max_tool_calls', 'stop_server_tools_when'],
]);

/**
 * Tags, and hints for caches and routes, change no answer, and a provider of another format has no use for them. Those that the
 * gateway does not handle are named where they are left out.
 */
export const HINTS: ReadonlySet<string> = new Set([
  ...HANDLED,
  ...['cache_control', 'prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention'],
  ...['session_id', 'user', 'metadata', 'client_metadata', 'safety_identifier', 'trace'],
  ...['service_tier', 'include', 'thread'],
]);
