import type { ToolCallPart, Turn, UserPart } from '#core/conversation/conversation.ts';
import { numberOf, recordOf, records, textOf } from '../formats/values.ts';
import { CLIENT_TOOLS, type ClientToolType } from './client-tools.ts';
import { ownTool, type ToolNaming } from './tool-names.ts';

/*
 * Calls that the responses format has item types of its own for, though the caller runs them. Other formats know them as calls of
 * a function.
 */

type Item = Readonly<Record<string, unknown>>;

const CLIENT_CALLS: ReadonlyMap<unknown, ClientToolType> = new Map([
  ['shell_call', 'shell'],
  ['local_shell_call', 'local_shell'],
  ['apply_patch_call', 'apply_patch'],
]);
const COMPUTER = 'computer_call';
const OUTPUTS: ReadonlySet<unknown> = new Set(
  [...CLIENT_CALLS.keys(), COMPUTER].map((type) => `${String(type)}_output`),
);

/** The ids of calls by the ids of their items: a result of one type may name the item. */
export type CallsByItem = Map<string, string>;

export const isOwnCall = ({ type }: Item): boolean => CLIENT_CALLS.has(type) || type === COMPUTER;

export function readOwnCall(item: Item, naming: ToolNaming, callsByItem: CallsByItem): ToolCallPart {
  const type = CLIENT_CALLS.get(item.type);
  const id = textOf(item.call_id) || textOf(item.id);
  callsByItem.set(textOf(item.id), id);
  const said =
    type === undefined
      ? { action: item.action, actions: item.actions }
      : CLIENT_TOOLS[type].argumentsOf(item);
  const name = type === undefined ? 'computer' : naming.nameOf(ownTool(type));
  return { type: 'tool_call', id, name, argumentsJson: JSON.stringify(said) };
}

/** The result of such a call as a turn; none where the item is another. */
export function readOwnOutput(
  item: Item,
  callsByItem: CallsByItem,
  readParts: (output: unknown) => UserPart[],
): Turn[] {
  if (!OUTPUTS.has(item.type)) return [];
  const { id, status } = item;
  const callId = textOf(item.call_id) || (callsByItem.get(textOf(id)) ?? textOf(id));
  const failed = status === 'failed' || status === 'incomplete';
  return [{ role: 'tool', callId, parts: readParts(outputOf(item)), failed }];
}

function outputOf({ type, output, status, max_output_length: charsMax }: Item): unknown {
  if (type === 'shell_call_output' && Array.isArray(output))
    return shortened(records(output).map(runText).join('\n\n'), numberOf(charsMax));
  // A patch may say no more than how it ended.
  if (type === 'apply_patch_call_output' && (output ?? '') === '')
    return status === 'failed' ? 'The patch failed.' : 'The patch was applied.';
  // An image of a screen stands alone, and not in a list of parts.
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return output;
  return [{ ...output, type: 'input_image' }];
}

/** Tells the output of one command, and how it ended. */
function runText({ stdout, stderr, outcome }: Item): string {
  const { type, exit_code: exitCode } = recordOf(outcome);
  const end = type === 'timeout' ? 'timed out' : `exit code: ${numberOf(exitCode) ?? 'not known'}`;
  const errors = textOf(stderr) === '' ? [] : [`stderr:\n${textOf(stderr)}`];
  return [...(textOf(stdout) === '' ? [] : [textOf(stdout)]), ...errors, end].join('\n');
}

/** The model chose how much of the output it reads, and the caller sends all of it: its begin and its end are kept. */
function shortened(text: string, charsMax: number | null): string {
  if (charsMax === null || charsMax <= 0 || text.length <= charsMax) return text;
  const begin = Math.ceil(charsMax / 2);
  const end = Math.floor(charsMax / 2);
  return `${text.slice(0, begin)}\n(${text.length - begin - end} characters are left out.)\n${text.slice(text.length - end)}`.toWellFormed();
}
