import { type Endpoint, type Provider, reportsCost } from '#core/catalog/catalog.ts';
import { timesFactorUp } from '#core/money.ts';
import type { CallFormat } from '../formats/call-format.ts';
import type { PlacedTool, PlacedTools, ServerTool, ServerTools } from './server-tools.ts';

export interface ToolPlace {
  endpoint: Endpoint;
  provider: Provider;
  format: CallFormat;
  /** The provider is asked in the caller's own words. */
  native: boolean;
}

/** Who runs the tools at an endpoint, and for how much; `unrun`: a tool that nobody there runs at a known price. */
export function placeTools(
  { stepsMax, tools }: ServerTools,
  place: ToolPlace,
): PlacedTools | { unrun: ServerTool } {
  const placed: PlacedTool[] = [];
  for (const tool of tools) {
    const runner = runnerOf(tool, place);
    if (runner === null) return { unrun: tool };
    placed.push(runner === 'router' ? byRouter(tool, place) : byModel(tool, place));
  }
  return { stepsMax, tools: placed };
}

function runnerOf(
  tool: ServerTool,
  { endpoint, provider, format, native }: ToolPlace,
): PlacedTool['runner'] | null {
  const inItsWords = tool.door !== 'asked' && tool.door.list === 'tools' && tool.door.words === 'anthropic';
  const priced = tool.kind !== 'search' || endpoint.prices.webSearch !== null;
  const ownTool = inItsWords && priced && format.endpoint === 'messages';
  if (reportsCost(provider)) {
    // Items and blocks of the router's tools have no counterpart in the other formats.
    if (!native) return null;
    return ownTool && endpoint.upstreamModel.startsWith(ANTHROPIC_AUTHOR) ? 'model' : 'router';
  }
  if (provider.kind !== 'anthropic' || !priced) return null;
  // A search in other words becomes the model's own; a fetch of its own wants no beta only in its newest words.
  return ownTool || (tool.kind === 'search' && !tool.namesEngine) ? 'model' : null;
}

/** Only its models keep to `max_uses` when they search by themselves. */
const ANTHROPIC_AUTHOR = 'anthropic/';

const byRouter = (tool: ServerTool, { provider }: ToolPlace): PlacedTool => ({
  ...tool,
  runner: 'router',
  feeAtto: timesFactorUp(tool.feeAtto, provider.priceFactorPpm),
  resultTokensMax: tool.usesMax * tool.resultTokensMax,
});

const byModel = (tool: ServerTool, { endpoint }: ToolPlace): PlacedTool => ({
  ...tool,
  runner: 'model',
  feeAtto: tool.kind === 'search' ? (endpoint.prices.webSearch ?? 0n) : 0n,
  // Nobody says how much a model's own search finds: as much as its context takes.
  resultTokensMax: tool.kind === 'search' ? Number.MAX_SAFE_INTEGER : tool.usesMax * tool.resultTokensMax,
});
