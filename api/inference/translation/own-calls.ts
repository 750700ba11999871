import type { ToolCallPart, Turn, UserPart } from '#core/conversation/conversation.ts';
import { textOf } from '../formats/values.ts';

/*
 * Calls that the responses format has item types of its own for, though the caller runs them. Other formats know them as calls of
 * a function.
 */

interface OwnCall {
  /** The function's name. */
  name: string;
  /** The members that say what to do. */
  members: readonly string[];
}

const OWN_CALLS: ReadonlyMap<unknown, OwnCall> = new Map([
  ['apply_patch_call', { name: 'apply_patch', members: ['operation'] }],
  ['computer_call', { name: 'computer', members: ['action', 'actions'] }],
]);
const OWN_OUTPUTS: ReadonlySet<unknown> = new Set(
  [...OWN_CALLS.keys()].map((type) => `${String(type)}_output`),
);

type Item = Readonly<Record<string, unknown>>;

export const isOwnCall = ({ type }: Item): boolean => OWN_CALLS.has(type);

export function readOwnCall(item: Item): ToolCallPart {
  const { name, members } = OWN_CALLS.get(item.type) ?? { name: '', members: [] };
  const said = Object.fromEntries(members.map((member) => [member, item[member]]));
  return { type: 'tool_call', id: textOf(item.call_id), name, argumentsJson: JSON.stringify(said) };
}

/** The result of such a call as a turn; none where the item is another. */
export function readOwnOutput(item: Item, readParts: (output: unknown) => UserPart[]): Turn[] {
  if (!OWN_OUTPUTS.has(item.type)) return [];
  const { output, status } = item;
  return [
    {
      role: 'tool',
      callId: textOf(item.call_id),
      parts: readParts(partsOf(output)),
      failed: status === 'failed',
    },
  ];
}

/** An image of a screen stands alone, and not in a list of parts. */
function partsOf(output: unknown): unknown {
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return output;
  return [{ ...output, type: 'input_image' }];
}
