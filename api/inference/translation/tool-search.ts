import type { FunctionTool, ToolCallPart, Turn } from '#core/conversation/conversation.ts';
import { textOf, textOrNull } from '../formats/values.ts';
import { parseExact } from '../json/exact-json.ts';
import { scanJsonObject } from '../json/json-object.ts';
import { ownTool, type ToolNaming } from './tool-names.ts';

/*
 * A search for tools that the caller runs itself. The responses format has types of their own for its calls and for the tools that it
 * found. At a provider of another format the search is a function, and the tools stand in the list with all others.
 */

export const SEARCH_CALL = 'tool_search_call';
export const SEARCH_OUTPUT = 'tool_search_output';
const CLIENT = 'client';

type Item = Readonly<Record<string, unknown>>;

/** An earlier call; none where the provider has run the search, because its tools tell all that it did. */
export function readSearchCall(item: Item, naming: ToolNaming): ToolCallPart[] {
  if (!isOfCaller(item)) return [];
  const { call_id: id, arguments: given } = item;
  const argumentsJson = textOrNull(given) ?? JSON.stringify(given ?? {});
  return [{ type: 'tool_call', id: textOf(id), name: naming.nameOf(ownTool('tool_search')), argumentsJson }];
}

/** The result of such a call: the names by which the tools can be called now. */
export function readSearchOutput(item: Item, tools: readonly FunctionTool[]): Turn {
  const text =
    tools.length === 0
      ? 'No tools were found.'
      : `These tools can be called now: ${tools.map(({ name }) => name).join(', ')}`;
  return {
    role: 'tool',
    callId: textOf(item.call_id),
    parts: [{ type: 'text', text }],
    failed: item.status === 'incomplete',
  };
}

/** A search of the provider's own has no id of a call. */
const isOfCaller = ({ execution, call_id: id }: Item): boolean =>
  (execution ?? CLIENT) === CLIENT && textOf(id) !== '';

/** A call as the caller is shown it. Clients that run the search look for who has to run it. */
export const searchCallItem = (
  { id: callId, argumentsJson }: ToolCallPart,
  id: string,
  status: 'in_progress' | 'completed' | 'incomplete',
): object => ({
  id,
  type: SEARCH_CALL,
  call_id: callId,
  execution: CLIENT,
  arguments: status === 'in_progress' ? {} : argumentsOf(argumentsJson),
  status,
});

/** The arguments are a record here. Others, such as those that were cut, are shown as the text that the model wrote. */
function argumentsOf(json: string): unknown {
  if (json === '') return {};
  if (typeof scanJsonObject(Buffer.from(json)) === 'string') return json;
  try {
    return parseExact(json);
  } catch {
    return json;
  }
}
