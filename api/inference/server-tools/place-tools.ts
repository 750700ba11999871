import type { Endpoint, Provider } from '#core/catalog/catalog.ts';
import { timesFactorUp } from '#core/money.ts';
import { boundsItsSearches } from '../../providers/router-tools.ts';
import type { CallFormat } from '../formats/call-format.ts';
import {
  isInOwnWords,
  type PlacedTool,
  type PlacedTools,
  type ServerTool,
  type ServerTools,
} from './server-tools.ts';

export interface ToolPlace {
  endpoint: Endpoint;
  provider: Provider;
  format: CallFormat;
  /** The provider is asked in the caller's own words. */
  native: boolean;
}

/**
 * Who runs the tools at an endpoint, and for how much; `noRunner`: a tool that nobody there runs at a known price; `noStepsLeft`:
 * one that the caller's bound on all steps leaves none. */
export function placeTools(
  { stepsMax, tools }: ServerTools,
  place: ToolPlace,
): PlacedTools | { noRunner: ServerTool } | { noStepsLeft: ServerTool } {
  const runners = tools.map((tool) => runnerOf(tool, place));
  const noRunner = tools.find((_, index) => runners[index] === null);
  if (noRunner !== undefined) return { noRunner };
  if (!runners.includes('model')) return { stepsMax, tools: tools.map((tool) => byRouter(tool, place)) };
  // A model counts the uses of each of its own tools, and nobody counts the steps of all.
  const shares = shareSteps(tools, stepsMax);
  const searches = tools.some((tool, index) => tool.kind === 'search' && shares[index] !== 0);
  // Searches in other words become one.
  const unused = tools.find(
    (tool, index) => shares[index] === 0 && !(searches && tool.kind === 'search' && !isInOwnWords(tool)),
  );
  if (unused !== undefined) return { noStepsLeft: unused };
  const shared = tools.map((tool, index) => withUses(tool, shares[index] ?? 0));
  return {
    stepsMax: shares.reduce((sum, uses) => sum + uses, 0),
    tools: shared.map((tool, index) =>
      runners[index] === 'router' ? byRouter(tool, place) : byModel(tool, place),
    ),
  };
}

/** One use for each as long as there are steps, then what is left of them in order. */
function shareSteps(tools: readonly ServerTool[], stepsMax: number): number[] {
  let left = stepsMax;
  const shares = tools.map(() => (left-- > 0 ? 1 : 0));
  return shares.map((first, index) => {
    const more = Math.max(0, Math.min((tools[index]?.usesMax ?? first) - first, left));
    left -= more;
    return first + more;
  });
}

const withUses = (tool: ServerTool, usesMax: number): ServerTool => ({
  ...tool,
  usesMax,
  bounds: { ...tool.bounds, ...('max_uses' in tool.bounds ? { max_uses: usesMax } : {}) },
});

function runnerOf(
  tool: ServerTool,
  { endpoint, provider, format, native }: ToolPlace,
): PlacedTool['runner'] | null {
  const priced = tool.kind !== 'search' || endpoint.prices.webSearch !== null;
  const ownTool = isInOwnWords(tool) && priced && format.name === 'messages';
  const { kind } = provider;
  // The neutral conversation has no place for them.
  if (kind.ownFormat !== null) return null;
  const { serverTools } = kind.capabilities;
  if (serverTools === 'router') {
    // Items and blocks of the router's tools have no counterpart in the other formats.
    if (!native) return null;
    return ownTool && boundsItsSearches(endpoint.upstreamModel) ? 'model' : 'router';
  }
  if (serverTools === 'none' || !priced) return null;
  // A search in other words becomes the model's own; a fetch of its own wants no beta only in its newest words.
  return ownTool || (tool.kind === 'search' && !tool.namesEngine) ? 'model' : null;
}

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
