import { isRecord } from '#core/is-record.ts';
import type { ApiError } from '../../contract/errors.ts';
import { placeTools, type ToolPlace } from '../server-tools/place-tools.ts';
import type { PlacedTools, ServerTool, ServerTools } from '../server-tools/server-tools.ts';

/** Decides who runs the tools at an endpoint, and which of them nobody there runs. */
export interface OfferedTools {
  /** `null`: the endpoint runs none. */
  placed: PlacedTools | null;
  /** Entries of the caller's `tools` that are not sent. */
  leftOut: readonly ServerTool[];
  /** The places of those, and of settings that are not sent, as the caller wrote them. */
  leftOutNames: readonly string[];
}

/** A caller's choice of tools. */
export interface ToolDemand {
  /** `tool_choice` as the caller wrote it. */
  choice: unknown;
  /** Every tool must be heeded. */
  requiresAll: boolean;
}

/**
 * Places the tools at an endpoint. Some clients offer a search in every request; where the model may do without, a tool that nobody
 * runs there is left out. A plugin and `:online` search in every call, so they are no offers.
 */
export function placeOfferedTools(
  tools: ServerTools | null,
  place: ToolPlace,
  demand: ToolDemand,
): OfferedTools | { fault: ApiError } | Exclude<ReturnType<typeof placeTools>, PlacedTools> {
  const leftOut: ServerTool[] = [];
  let offered = tools;
  while (offered !== null && offered.tools.length > 0) {
    const placed = placeTools(offered, place);
    if (!('noRunner' in placed)) {
      const [fault] = offered.tools.flatMap((tool) => tool.fault ?? []);
      if (fault !== undefined) return { fault };
      return 'noStepsLeft' in placed ? placed : offeredTools(placed, leftOut);
    }
    const { noRunner } = placed;
    if (demand.requiresAll || !isOffer(noRunner) || !leavesChoice(demand.choice, noRunner)) return placed;
    leftOut.push(noRunner);
    offered = { ...offered, tools: offered.tools.filter((tool) => tool !== noRunner) };
  }
  return offeredTools(null, leftOut);
}

function offeredTools(placed: PlacedTools | null, leftOut: readonly ServerTool[]): OfferedTools {
  const settings = (placed?.tools ?? []).flatMap((tool) =>
    tool.unsentSettings.map((name) => `${placeOf(tool)}.${name}`),
  );
  return { placed, leftOut, leftOutNames: [...leftOut.map(placeOf), ...settings] };
}

const isOffer = ({ door }: ServerTool): boolean => door !== 'asked' && door.list === 'tools';

/** Whether the model may answer without the tool, in the words of any format. */
function leavesChoice(choice: unknown, { sent }: ServerTool): boolean {
  if (choice === undefined || choice === null || choice === 'auto' || choice === 'none') return true;
  if (!isRecord(choice)) return false;
  switch (choice.type) {
    case 'auto':
    case 'none':
    case 'function':
    case 'custom':
      return true;
    case 'tool':
      return choice.name !== sent.name;
    case 'allowed_tools':
      return (isRecord(choice.allowed_tools) ? choice.allowed_tools : choice).mode !== 'required';
    default:
      return false;
  }
}

/** The place of a tool as the caller wrote it. */
export const placeOf = ({ door }: ServerTool): string =>
  door === 'asked' ? 'model' : `${door.list}[${door.index}]`;
