import { isRecord } from '#core/is-record.ts';
import { type AttoUsd, attoUsd } from '#core/money.ts';
import type { TokenUse } from './prices.ts';

/** The tools that the provider runs by itself, as the body bounds them. A missing bound is none at all. */
export interface ToolOffer {
  stepsMax: number;
  tools: readonly OfferedTool[];
}

interface OfferedTool {
  kind: 'search' | 'fetch' | 'clock';
  usesMax: number;
  feeAtto: AttoUsd;
  resultTokensMax: number;
}

/** What they did in one call. */
export interface ToolRuns {
  searches: number;
  fetches: number;
  /** Of the turns before the last. */
  earlierTurns: readonly TokenUse[];
  /** What the last turn reads besides the prompt. */
  foundTokens: number;
  feesAtto: AttoUsd;
}

export const noRuns: ToolRuns = { searches: 0, fetches: 0, earlierTurns: [], foundTokens: 0, feesAtto: 0n };

/** `null`: no such tool. `searchFee`: what the model's own search costs. */
export function readToolOffer(
  body: Readonly<Record<string, unknown>>,
  modelId: string,
  searchFee: AttoUsd,
): ToolOffer | null {
  const tools = [
    ...listOf(body.tools).flatMap((tool) => offeredTool(tool, searchFee)),
    ...listOf(body.plugins).flatMap((plugin) => offeredPlugin(plugin, searchFee)),
  ];
  if (isRecord(body.web_search_options) || modelId.endsWith(':online')) tools.push(ownSearch(searchFee));
  return tools.length === 0 ? null : { stepsMax: stepsMax(body), tools };
}

/** One use of each, with little found. `dearest`: every use that is allowed, at once, each finding all it may. */
export function runTools(
  offer: ToolOffer | null,
  usual: TokenUse,
  contextLength: number,
  dearest: boolean,
): ToolRuns {
  if (offer === null) return noRuns;
  let [searches, fetches, found, fees] = [0, 0, 0, 0n];
  for (const { kind, usesMax, feeAtto, resultTokensMax } of offer.tools) {
    const uses = dearest ? usesMax : Math.min(1, usesMax);
    if (kind === 'search') searches += uses;
    if (kind === 'fetch') fetches += uses;
    found += uses * (dearest ? resultTokensMax : Math.min(FOUND_TOKENS, resultTokensMax));
    fees += BigInt(uses) * feeAtto;
  }
  const steps = dearest ? offer.stepsMax : Math.min(offer.stepsMax, offer.tools.length);
  const earlierTurns: TokenUse[] = [];
  for (let step = 0; step < steps; step++) {
    const read = step === 0 ? usual.promptTokens : usual.promptTokens + found + step * usual.completionTokens;
    const turn = { ...usual, promptTokens: Math.min(read, contextLength), cachedTokens: 0 };
    earlierTurns.push(dearest ? turn : { ...turn, completionTokens: CALL_TOKENS, reasoningTokens: 0 });
  }
  const written = dearest ? steps * usual.completionTokens : steps * CALL_TOKENS;
  return { searches, fetches, earlierTurns, foundTokens: steps === 0 ? 0 : found + written, feesAtto: fees };
}

const FOUND_TOKENS = 120;
/** The model's few words that call a tool. */
const CALL_TOKENS = 12;
/** OpenRouter's own, where nobody bounds a loop. */
const STEPS_MAX = 30;
const ENDLESS_TOKENS = 1_000_000;

function offeredTool(tool: unknown, searchFee: AttoUsd): OfferedTool[] {
  if (!isRecord(tool) || typeof tool.type !== 'string') return [];
  const { type } = tool;
  if (type === 'openrouter:datetime')
    return [{ kind: 'clock', usesMax: STEPS_MAX, feeAtto: 0n, resultTokensMax: 40 }];
  const parameters = type.startsWith('openrouter:')
    ? isRecord(tool.parameters)
      ? tool.parameters
      : {}
    : tool;
  if (/^web_search_20(25|26)\d{4}$/.test(type))
    return [{ ...ownSearch(searchFee), usesMax: countOf(tool.max_uses) }];
  if (/^(openrouter:)?web_search/.test(type)) return [search(parameters, searchFee)];
  if (/^(openrouter:)?web_fetch/.test(type)) return [fetched(parameters)];
  return [];
}

function offeredPlugin(plugin: unknown, searchFee: AttoUsd): OfferedTool[] {
  if (!isRecord(plugin) || plugin.enabled === false) return [];
  if (plugin.id === 'web') return [search({ ...plugin, max_uses: plugin.max_uses ?? 1 }, searchFee)];
  return plugin.id === 'web-fetch' ? [fetched(plugin)] : [];
}

/** Without an engine the model searches by itself, as often as it likes. */
function search(parameters: Readonly<Record<string, unknown>>, searchFee: AttoUsd): OfferedTool {
  const fee = FEES[String(parameters.engine)];
  if (fee === undefined) return ownSearch(searchFee);
  const results = typeof parameters.max_results === 'number' ? parameters.max_results : 5;
  const size = CHARACTERS[String(parameters.search_context_size)];
  const characters =
    typeof parameters.max_characters === 'number' ? parameters.max_characters : (size ?? 15_000);
  return {
    kind: 'search',
    usesMax: countOf(parameters.max_uses),
    feeAtto: fee + BigInt(Math.max(0, results - 10)) * attoUsd('0.001'),
    resultTokensMax: results * (Math.max(characters, size ?? 0) * BYTES_PER_CHARACTER + ADDRESS_TOKENS),
  };
}

function fetched({
  max_uses: uses,
  max_content_tokens: tokens,
}: Readonly<Record<string, unknown>>): OfferedTool {
  return {
    kind: 'fetch',
    usesMax: countOf(uses),
    feeAtto: attoUsd('0.001'),
    resultTokensMax: typeof tokens === 'number' ? tokens + ADDRESS_TOKENS : ENDLESS_TOKENS,
  };
}

const ownSearch = (feeAtto: AttoUsd): OfferedTool => ({
  kind: 'search',
  usesMax: STEPS_MAX,
  feeAtto,
  resultTokensMax: ENDLESS_TOKENS,
});

const BYTES_PER_CHARACTER = 4;
const ADDRESS_TOKENS = 500;
const CHARACTERS: Readonly<Record<string, number>> = { low: 5_000, medium: 15_000, high: 30_000 };
const FEES: Readonly<Record<string, AttoUsd>> = {
  exa: attoUsd('0.007'),
  parallel: attoUsd('0.005'),
  perplexity: attoUsd('0.005'),
};

const countOf = (uses: unknown): number => (typeof uses === 'number' ? uses : STEPS_MAX);
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** A list of conditions overrides `max_tool_calls` altogether. */
function stepsMax({
  stop_server_tools_when: stops,
  max_tool_calls: most,
}: Readonly<Record<string, unknown>>): number {
  if (Array.isArray(stops)) {
    const counts = stops.flatMap((each) =>
      isRecord(each) && each.type === 'step_count_is' ? [Number(each.step_count)] : [],
    );
    return Math.min(STEPS_MAX, ...counts);
  }
  return typeof most === 'number' ? Math.min(most, STEPS_MAX) : STEPS_MAX;
}
