import type { Dialect } from '#core/catalog/dialect.ts';
import { isRecord } from '#core/is-record.ts';
import type { JsonObject, MemberChanges } from '../json/json-object.ts';
import { editMember, sentBytes } from './edit-member.ts';
import { recordOf, records } from './values.ts';

/*
 * The tools of a chat for a server that takes functions alone (BerriAI/litellm#25763).
 */

type ToolDialect = Pick<Dialect, 'takesCustomTools'>;
type Members = Readonly<Record<string, unknown>>;

/**
 * Whether a chat has tools, calls or a choice of a plain text, and the server does not take them. Such a chat is translated like
 * one of another format, with functions alone, and its answers show the tools as the caller sent them.
 */
export const needsFunctions = (
  { takesCustomTools }: ToolDialect,
  { tools, tool_choice: choice, messages }: Members,
): boolean =>
  !takesCustomTools &&
  (isCustom(choice) ||
    hasCustom(tools) ||
    (Array.isArray(messages) &&
      messages.some((message) => isRecord(message) && hasCustom(message.tool_calls))));

const isCustom = (value: unknown): boolean => isRecord(value) && value.type === 'custom';

const hasCustom = (list: unknown): boolean => Array.isArray(list) && list.some(isCustom);

/** Whether a choice allows some of the tools, in words that the server does not know. */
export const narrowsTools = ({ takesCustomTools }: ToolDialect, choice: unknown): boolean =>
  !takesCustomTools && isRecord(choice) && choice.type === 'allowed_tools';

/** Sends the tools alone that the choice allows, and leaves the model the choice among them. */
export function narrowTools(dialect: ToolDialect, body: JsonObject, changes: MemberChanges): void {
  if (dialect.takesCustomTools) return;
  const bytes = sentBytes(body, 'tool_choice', changes);
  const choice: unknown = bytes === null ? null : JSON.parse(bytes.toString('utf8'));
  if (!narrowsTools(dialect, choice)) return;
  const { mode, tools: allowed } = recordOf(recordOf(choice).allowed_tools);
  const names = new Set(records(allowed).map(nameOf));
  let isNone = true;
  const narrow = (tools: unknown): unknown => {
    const kept = records(tools).filter((tool) => names.has(nameOf(tool)));
    isNone = kept.length === 0;
    return isNone ? undefined : kept;
  };
  // Servers refuse an empty list, and a choice among no tools. The tools are edited first.
  editMember(body, 'tools', narrow, changes);
  const choose = (): unknown => (isNone ? undefined : mode === 'required' ? 'required' : 'auto');
  editMember(body, 'tool_choice', choose, changes);
}

const nameOf = (tool: Members): unknown => recordOf(tool.function).name;
