import { isRecord } from '#core/is-record.ts';
import { ASKED_TOKENS_MAX, SERVER_TOOL_STEPS_DEFAULT, SERVER_TOOL_STEPS_MAX } from '#core/limits.ts';
import { type ApiError, apiError, hasToBe, isApiError } from '../../contract/errors.ts';
import {
  defaultFetchEngine,
  defaultSearchEngine,
  fetchEngineNames,
  fetchFee,
  searchEngineNames,
  searchFee,
  searchModes,
} from '../../providers/router-search-fees.ts';
import type { ServerTool, ServerTools, ToolDoor } from './server-tools.ts';
import { type SettingWords, settingsOf, unpricedKey, unsentSettingsOf } from './setting-keys.ts';
import { serverToolType } from './tool-types.ts';

/**
 * Search results per call. Each result is text that the model may read again, so the default is small to
 * keep holds small.
 */
const SEARCH_RESULTS_MAX = 25;
const SEARCH_RESULTS_DEFAULT = 5;
/** Characters of text per search result. The default is small to keep holds small. */
const SEARCH_RESULT_CHARS_MAX = 30_000;
const SEARCH_RESULT_CHARS_DEFAULT = 1_000;
/** Address, title and markup around one search result. */
const SEARCH_RESULT_FRAME_TOKENS = 512;
/** Tokens that a fetched page may have where the caller sets no bound. */
const FETCHED_TOKENS_DEFAULT = 10_000;

/**
 * Searches, fetches and the clock, by every door, with their bounds; `null`: the body asks for none. Which tools may
 * stand in a body at all was decided before (`tool-policy.ts`).
 */
export function readServerTools(body: Readonly<Record<string, unknown>>): ServerTools | null | ApiError {
  const { web_search_options: asked = null } = body;
  // Whatever it holds, its mere presence may switch on a search of the model's own.
  if (asked !== null && !isRecord(asked)) return hasToBe('web_search_options', 'an object');
  const stepsAsked = readStepsAsked(body);
  if (isApiError(stepsAsked)) return stepsAsked;
  const tools: ServerTool[] = [];
  for (const entry of entriesOf(body)) {
    const read = readTool(entry, stepsAsked);
    const tool = isApiError(read) ? readFaulty(entry, stepsAsked, read) : read;
    if (isApiError(tool)) return tool;
    tools.push(tool);
  }
  return tools.length === 0 ? null : together(tools, stepsAsked);
}

/** A tool that is merely offered fails no call of a model whose providers do not run it, whatever its settings are. */
function readFaulty(entry: Entry, stepsAsked: number | null, fault: ApiError): ServerTool | ApiError {
  if (entry.door === 'asked' || entry.door.list !== 'tools') return fault;
  const { type, name } = entry.sent;
  const bare = readTool({ ...entry, sent: { type, name } }, stepsAsked);
  return isApiError(bare) ? fault : { ...bare, sent: entry.sent, fault };
}

/** What `:online` asks for: one search before the answer. */
export function withOneSearch(tools: ServerTools | null): ServerTools {
  if (tools === null) return oneSearch;
  return tools.tools.some(({ kind }) => kind === 'search')
    ? tools
    : {
        stepsMax: Math.min(tools.stepsMax + 1, SERVER_TOOL_STEPS_MAX),
        tools: [...tools.tools, ...oneSearch.tools],
      };
}

function together(tools: readonly ServerTool[], stepsAsked: number | null): ServerTools {
  const uses = tools.reduce((sum, { usesMax }) => sum + usesMax, 0);
  return { stepsMax: Math.min(stepsAsked ?? SERVER_TOOL_STEPS_MAX, uses, SERVER_TOOL_STEPS_MAX), tools };
}

interface Entry {
  kind: ServerTool['kind'];
  door: ToolDoor;
  sent: Readonly<Record<string, unknown>>;
  /** For messages. */
  param: string;
}

function entriesOf({
  tools,
  plugins,
  web_search_options: asked,
}: Readonly<Record<string, unknown>>): Entry[] {
  const entries: Entry[] = [];
  for (const [index, sent] of (Array.isArray(tools) ? tools : []).entries()) {
    const served = isRecord(sent) && typeof sent.type === 'string' ? serverToolType(sent.type) : null;
    if (served === null) continue;
    const { kind, words } = served;
    entries.push({ kind, door: { list: 'tools', index, words }, sent, param: `tools[${index}]` });
  }
  for (const [index, sent] of (Array.isArray(plugins) ? plugins : []).entries()) {
    if (!isRecord(sent) || sent.enabled === false) continue;
    const kind = sent.id === 'web' ? 'search' : sent.id === 'web-fetch' ? 'fetch' : null;
    if (kind !== null)
      entries.push({ kind, door: { list: 'plugins', index }, sent, param: `plugins[${index}]` });
  }
  if (isRecord(asked))
    entries.push({ kind: 'search', door: 'asked', sent: asked, param: 'web_search_options' });
  return entries;
}

/** How often server tools may run in one call, as the caller said; `null`: it did not. */
function readStepsAsked(body: Readonly<Record<string, unknown>>): number | null | ApiError {
  const asked = readCount(body.max_tool_calls, 'max_tool_calls', SERVER_TOOL_STEPS_MAX);
  if (isApiError(asked)) return asked;
  const stops = body.stop_server_tools_when;
  if (stops === undefined || stops === null) return asked;
  // The list takes the place of `max_tool_calls`: without a number of steps in it, the loop has no end that a hold covers.
  const counts = (Array.isArray(stops) ? stops : []).filter(
    (each) => isRecord(each) && each.type === 'step_count_is',
  );
  if (counts.length === 0) {
    return apiError('tool_not_served', {
      param: 'stop_server_tools_when',
      message:
        'A tool loop without a step limit is not served. Send `max_tool_calls`, or add ' +
        '`{"type": "step_count_is", "step_count": 5}` to `stop_server_tools_when`.',
    });
  }
  let steps = asked;
  for (const { step_count: count } of counts) {
    const read = readCount(count ?? '', 'stop_server_tools_when', SERVER_TOOL_STEPS_MAX);
    if (isApiError(read)) return read;
    if (read !== null) steps = Math.min(steps ?? read, read);
  }
  return steps;
}

function readTool(entry: Entry, stepsAsked: number | null): ServerTool | ApiError {
  const { kind, door } = entry;
  const inWords: SettingWords = door !== 'asked' && door.list === 'tools' ? door.words : 'plugin';
  const unsentSettings = unsentSettingsOf(inWords, entry.sent);
  const sent = without(entry.sent, unsentSettings);
  const given = inWords === 'router' ? settingsOf(sent) : sent;
  if (given === null) return hasToBe(`${entry.param}.parameters`, 'an object');
  const unpriced = unpricedKey(inWords, kind, sent, given);
  if (unpriced !== undefined) {
    return apiError('invalid_request', {
      param: `${entry.param}.${unpriced}`,
      message: `\`${unpriced}\` of a ${NAMES[kind]} is not served: what it may cost is not known beforehand.`,
    });
  }
  if (inWords === 'messages') {
    const refusal = refuseProgramCallers(sent, entry.param);
    if (refusal !== null) return refusal;
  }
  const isNested = inWords === 'router' && isRecord(sent.parameters);
  const param = isNested ? `${entry.param}.parameters` : entry.param;
  const usesAsked = readCount(given.max_uses, `${param}.max_uses`, SERVER_TOOL_STEPS_MAX);
  if (isApiError(usesAsked)) return usesAsked;
  // A plugin searches once, before the model begins.
  const usual = inWords === 'plugin' ? 1 : (stepsAsked ?? SERVER_TOOL_STEPS_DEFAULT);
  const usesMax = Math.min(usesAsked ?? usual, stepsAsked ?? SERVER_TOOL_STEPS_MAX);
  const namesEngine = (given.engine ?? 'auto') !== 'auto';
  const basis = { kind, door, sent, unsentSettings, usesMax, namesEngine };
  switch (kind) {
    case 'clock':
      return { ...basis, bounds: {}, feeAtto: 0n, resultTokensMax: CLOCK_TOKENS };
    case 'fetch':
      return readFetch(basis, given, param);
    case 'search':
      return readSearch(basis, given, param);
  }
}

const without = (sent: Given, names: readonly string[]): Given =>
  names.length === 0
    ? sent
    : Object.fromEntries(Object.entries(sent).filter(([name]) => !names.includes(name)));

const CLOCK_TOKENS = 256;
const NAMES = { search: 'web search', fetch: 'web fetch', clock: 'clock' };

type Basis = Pick<ServerTool, 'kind' | 'door' | 'sent' | 'unsentSettings' | 'usesMax' | 'namesEngine'>;
type Given = Readonly<Record<string, unknown>>;

function readSearch(basis: Basis, given: Given, param: string): ServerTool | ApiError {
  const engine = readEngine(given.engine, defaultSearchEngine, searchEngineNames, `${param}.engine`);
  if (isApiError(engine)) return engine;
  const resultsMax = readCount(given.max_results, `${param}.max_results`, SEARCH_RESULTS_MAX);
  if (isApiError(resultsMax)) return resultsMax;
  const chars = readChars(given, param);
  if (isApiError(chars)) return chars;
  const { search_prompt: words = null } = given;
  if (words !== null && typeof words !== 'string') return hasToBe(`${param}.search_prompt`, 'a string');
  const results = resultsMax ?? SEARCH_RESULTS_DEFAULT;
  const mode = given.mode ?? null;
  const fee = mode === null || typeof mode === 'string' ? searchFee(engine, mode, results) : null;
  if (fee === null) return hasToBe(`${param}.mode`, modesOf(engine));
  const bounds = {
    engine,
    max_results: results,
    max_uses: basis.usesMax,
    ...(chars.written === null ? {} : { max_characters: chars.written }),
  };
  return {
    ...basis,
    bounds,
    feeAtto: fee,
    // The caller's words stand before what each search finds.
    resultTokensMax:
      results * (chars.resultMax * TOKENS_PER_CHAR_MAX + SEARCH_RESULT_FRAME_TOKENS) +
      Buffer.byteLength(words ?? ''),
  };
}

function modesOf(engine: string): string {
  const modes = searchModes(engine);
  return modes.length === 0 ? `left out with the engine \`${engine}\`` : `one of ${modes.join(', ')}`;
}

/** No tokenizer makes more tokens than bytes, and no character has more than four. */
const TOKENS_PER_CHAR_MAX = 4;

/** How much of a found page the router shows to the model. */
const CHARS_BY_SIZE: Readonly<Record<string, number>> = { low: 5_000, medium: 15_000, high: 30_000 };

function readChars(given: Given, param: string): { resultMax: number; written: number | null } | ApiError {
  const chars = readCount(given.max_characters, `${param}.max_characters`, SEARCH_RESULT_CHARS_MAX);
  if (isApiError(chars)) return chars;
  const size = given.search_context_size ?? null;
  if (size === null)
    return { resultMax: chars ?? SEARCH_RESULT_CHARS_DEFAULT, written: chars ?? SEARCH_RESULT_CHARS_DEFAULT };
  const bySize =
    typeof size === 'string' && Object.hasOwn(CHARS_BY_SIZE, size) ? CHARS_BY_SIZE[size] : undefined;
  if (bySize === undefined)
    return hasToBe(`${param}.search_context_size`, `one of ${Object.keys(CHARS_BY_SIZE).join(', ')}`);
  return { resultMax: Math.max(bySize, chars ?? 0), written: chars };
}

function readFetch(basis: Basis, given: Given, param: string): ServerTool | ApiError {
  const engine = readEngine(given.engine, defaultFetchEngine, fetchEngineNames, `${param}.engine`);
  if (isApiError(engine)) return engine;
  const tokens = readCount(given.max_content_tokens, `${param}.max_content_tokens`, ASKED_TOKENS_MAX);
  if (isApiError(tokens)) return tokens;
  const contentTokens = tokens ?? FETCHED_TOKENS_DEFAULT;
  return {
    ...basis,
    bounds: { engine, max_uses: basis.usesMax, max_content_tokens: contentTokens },
    feeAtto: fetchFee,
    resultTokensMax: contentTokens + SEARCH_RESULT_FRAME_TOKENS,
  };
}

function readEngine(
  sent: unknown,
  usual: string,
  served: readonly string[],
  param: string,
): string | ApiError {
  if (sent === undefined || sent === null || sent === 'auto') return usual;
  return typeof sent === 'string' && served.includes(sent)
    ? sent
    : hasToBe(param, `one of ${served.join(', ')}`);
}

/** A whole number of at least 1; what is above `most` counts as that. `null`: not sent. */
function readCount(sent: unknown, param: string, most: number): number | null | ApiError {
  if (sent === undefined || sent === null) return null;
  if (typeof sent !== 'number' || !Number.isSafeInteger(sent) || sent < 1)
    return hasToBe(param, 'a whole number of at least 1');
  return Math.min(sent, most);
}

/**
 * Later editions of the messages format's tools filter what they find by a program, which runs on the account that all agents
 * share.
 */
function refuseProgramCallers({ type, allowed_callers: callers }: Given, param: string): ApiError | null {
  if (callers === undefined || callers === null) return null;
  if (Array.isArray(callers) && callers.every((caller) => caller === 'direct')) return null;
  return apiError('tool_not_served', {
    param: `${param}.allowed_callers`,
    message: `The tool \`${String(type)}\` is served with \`"allowed_callers": ["direct"]\` only.`,
  });
}

const oneSearch: ServerTools = ((): ServerTools => {
  const tool = readTool({ kind: 'search', door: 'asked', sent: {}, param: 'model' }, null);
  if (isApiError(tool)) throw new Error(tool.message);
  return { stepsMax: 1, tools: [tool] };
})();
