import { isRecord } from '#core/is-record.ts';
import type { ServerTool } from './server-tools.ts';

/** Whose names a tool's settings have: of an entry in `tools`, or of a plugin. */
export type SettingWords = 'router' | 'shorthand' | 'messages' | 'plugin';

/**
 * A setting that nobody priced, by default deny: new ones appear monthly. Each way of asking has its own, because a bound
 * that stands where nobody looks for it, such as `parameters` in a short name's entry, is none of what the hold was made of.
 *
 * @param given What the settings stand in: `sent` itself, or its `parameters`.
 */
export function unpricedKey(
  words: SettingWords,
  kind: ServerTool['kind'],
  sent: Settings,
  given: Settings,
): string | undefined {
  const isFlat = sent === given;
  const known = keysOf(words, kind);
  const isNested = !isFlat && sent.parameters !== undefined && sent.parameters !== null;
  const outer =
    isFlat || !isNested ? [] : Object.keys(sent).filter((key) => !ENTRY.has(key) && key !== 'parameters');
  const inner = Object.keys(given).filter((key) => !known.has(key) && !(isFlat && ENTRY.has(key)));
  const unpriced = inner[0] ?? unpricedFilter(given.filters);
  return outer[0] ?? (unpriced === undefined || isFlat || !isNested ? unpriced : `parameters.${unpriced}`);
}

type Settings = Readonly<Record<string, unknown>>;

function unpricedFilter(filters: unknown): string | undefined {
  if (filters === undefined || filters === null) return undefined;
  if (!isRecord(filters)) return 'filters';
  const key = Object.keys(filters).find((each) => !FILTERS.has(each));
  return key === undefined ? undefined : `filters.${key}`;
}

function keysOf(words: SettingWords, kind: ServerTool['kind']): ReadonlySet<string> {
  if (kind === 'clock') return CLOCK;
  if (words === 'messages') return kind === 'search' ? MESSAGES_SEARCH : MESSAGES_FETCH;
  if (kind === 'fetch') return FETCH;
  return words === 'router' ? SEARCH : words === 'shorthand' ? SHORTHAND_SEARCH : PLUGIN_SEARCH;
}

/** A tool of the router has its settings in `parameters`; some clients write them beside its type. `null`: `parameters` is no object. */
export function settingsOf({ parameters, ...flat }: Settings): Settings | null {
  if (parameters === undefined || parameters === null) return withoutEntry(flat);
  return isRecord(parameters) ? parameters : null;
}

const withoutEntry = (sent: Settings): Settings =>
  Object.fromEntries(Object.entries(sent).filter(([key]) => !ENTRY.has(key)));

/** The members of such a tool besides its settings. */
export const entryMembers = (sent: Settings): Settings =>
  Object.fromEntries(Object.entries(sent).filter(([key]) => ENTRY.has(key)));

const ENTRY = new Set(['type', 'id', 'name', 'enabled', 'cache_control']);
const CLOCK = new Set(['timezone', 'max_uses']);

const FILTERS = new Set(['allowed_domains', 'excluded_domains', 'blocked_domains']);
const SEARCH = new Set([
  ...FILTERS,
  'engine',
  'mode',
  'max_uses',
  'max_results',
  'max_total_results',
  'max_characters',
  'search_context_size',
  'user_location',
]);
const SHORTHAND_SEARCH = new Set([...SEARCH, 'filters', 'external_web_access']);

/** Settings that only OpenAI's own search has. Some clients write them into every request, so they are left out, and cost nothing. */
const UNSENT: ReadonlySet<string> = new Set([
  'search_content_types',
  'image_settings',
  'indexed_web_access',
  'return_token_budget',
]);

/** The names of settings that are never sent, as far as the entry has them. */
export const unsentSettingsOf = (words: SettingWords, sent: Settings): string[] =>
  words === 'shorthand' ? Object.keys(sent).filter((key) => UNSENT.has(key)) : [];

const PLUGIN_SEARCH = new Set([...SEARCH, 'include_domains', 'exclude_domains', 'search_prompt']);

const FETCH = new Set(['engine', 'max_uses', 'max_content_tokens', 'allowed_domains', 'blocked_domains']);

/** The router's words would be heard beside them: its engines take other fees than the model's own search. */
const MESSAGES = ['max_uses', 'allowed_domains', 'blocked_domains', 'allowed_callers', 'response_inclusion'];
const MESSAGES_SEARCH = new Set([...MESSAGES, 'user_location']);
const MESSAGES_FETCH = new Set([...MESSAGES, 'max_content_tokens', 'citations', 'use_cache']);
