import type { OwnToolType, ToolCallPart } from '#core/conversation/conversation.ts';
import { isRecord } from '#core/is-record.ts';
import { parseJson } from '#core/parse-json.ts';
import { numberOf, recordOf, records, strings, textOf, textOrNull } from '../formats/values.ts';

/*
 * Shells and patches that the caller runs. The responses format has types of their own for these tools, their calls and their results.
 * At a provider of another format each is a function. The shapes are those of OpenAI's pages on the tools `shell`, `local_shell` and
 * `apply_patch`.
 */

/** A search for tools has a schema of the caller's (`tool-search.ts`). */
export type ClientToolType = Exclude<OwnToolType, 'tool_search'>;

type Members = Readonly<Record<string, unknown>>;
type Status = 'in_progress' | 'completed' | 'incomplete';

interface ClientTool {
  description: string;
  parameters: object;
  /** The item of a call, and the beginning of its id. */
  callType: string;
  idPrefix: string;
  /** The arguments of the function, of the item of an earlier call. */
  argumentsOf(item: Members): Members;
  /** The members of the item, of whole arguments; `null`: there are none, so the item must ask for nothing. */
  membersOf(args: Members | null, json: string): object;
}

/** Arguments of which some are `null` are not told to the model. */
const withoutNulls = (members: Members): Members =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => (value ?? null) !== null));

const objectOf = (properties: object, ...required: string[]): object => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const text = (description: string): object => ({ type: 'string', description });
const texts = (description: string): object => ({ type: 'array', items: { type: 'string' }, description });
const TIMEOUT = { type: 'integer', description: 'The time after which it is stopped, in milliseconds.' };

const SHELL: ClientTool = {
  description:
    "Runs commands in a shell on the user's computer, and returns what each writes and how it ends. The commands of one call may run at the same time.",
  parameters: objectOf(
    {
      commands: texts('Each is a line for the shell.'),
      timeout_ms: TIMEOUT,
      max_output_length: {
        type: 'integer',
        description: 'The most characters of the output that are returned.',
      },
    },
    'commands',
  ),
  callType: 'shell_call',
  idPrefix: 'sh',
  argumentsOf: ({ action }) => withoutNulls(recordOf(action)),
  membersOf: (args) => ({
    action: {
      commands: typeof args?.commands === 'string' ? [args.commands] : strings(args?.commands),
      timeout_ms: numberOf(args?.timeout_ms),
      max_output_length: numberOf(args?.max_output_length),
    },
    environment: { type: 'local' },
  }),
};

const LOCAL_SHELL: ClientTool = {
  description: "Runs one command on the user's computer, and returns what it writes.",
  parameters: objectOf(
    {
      command: texts('The program and its arguments, such as ["bash", "-lc", "ls"].'),
      working_directory: text('The folder in which it runs.'),
      env: { type: 'object', description: 'Variables.', additionalProperties: { type: 'string' } },
      timeout_ms: TIMEOUT,
      user: text('The user as whom it runs.'),
    },
    'command',
  ),
  callType: 'local_shell_call',
  idPrefix: 'lsh',
  argumentsOf: ({ action }) => {
    const { type: _, env, ...others } = recordOf(action);
    return withoutNulls(Object.keys(recordOf(env)).length === 0 ? others : { ...others, env });
  },
  membersOf: (args) => ({
    action: {
      type: 'exec',
      command: typeof args?.command === 'string' ? ['bash', '-lc', args.command] : strings(args?.command),
      env: Object.fromEntries(
        Object.entries(recordOf(args?.env)).filter(([, value]) => typeof value === 'string'),
      ),
      timeout_ms: numberOf(args?.timeout_ms),
      user: textOrNull(args?.user),
      working_directory: textOrNull(args?.working_directory),
    },
  }),
};

const PATCH_TYPES = ['create_file', 'update_file', 'delete_file'];

const APPLY_PATCH: ClientTool = {
  description:
    'Creates, changes or deletes one file of the user. A `diff` has one line for each line of the file that it speaks of: ' +
    '`+` begins a new line, `-` one that goes, and a blank one that stays. Each part of a change begins with a line of `@@`, which may name ' +
    'a line of the file above the part, such as `@@ def main():`, and has a few lines that stay before and behind what changes. ' +
    'Line numbers are not written. The `diff` of a new file has lines with `+` alone.',
  parameters: objectOf(
    {
      operation: objectOf(
        {
          type: { type: 'string', enum: PATCH_TYPES },
          path: text('The path of the file.'),
          diff: text('What changes. It is left out where the file is deleted.'),
        },
        'type',
        'path',
      ),
    },
    'operation',
  ),
  callType: 'apply_patch_call',
  idPrefix: 'apc',
  argumentsOf: ({ operation }) => ({ operation }),
  membersOf: (args, json) => ({ operation: operationOf(args) ?? { ...NO_PATCH, diff: json } }),
};

/** It fits no file, so a caller that applies it hears that it fails, and tells the model. */
const NO_PATCH = { type: 'update_file', path: '' };

function operationOf(args: Members | null): object | null {
  const { type, path, diff } = isRecord(args?.operation) ? args.operation : (args ?? {});
  if (!PATCH_TYPES.some((known) => known === type) || textOf(path) === '') return null;
  return type === 'delete_file' ? { type, path } : { type, path, diff: textOf(diff) };
}

export const CLIENT_TOOLS: Readonly<Record<ClientToolType, ClientTool>> = {
  shell: SHELL,
  local_shell: LOCAL_SHELL,
  apply_patch: APPLY_PATCH,
};

/** The description of a tool as a function: a shell tells of the skills that the caller has for it. */
export function describe(type: ClientToolType, { environment }: Members): string {
  const { description } = CLIENT_TOOLS[type];
  const skills = records(recordOf(environment).skills).map(
    ({ name, description: about, path }) => `- ${textOf(name)}: ${textOf(about)} (${textOf(path)})`,
  );
  return skills.length === 0
    ? description
    : `${description}\n\nInstructions for some tasks stand in these folders:\n${skills.join('\n')}`;
}

/**
 * The item of a call as the caller is shown it. Arguments that were cut, or that are no JSON, ask for nothing: half a command must not be run.
 */
export function clientCallItem(
  type: ClientToolType,
  { id: callId, argumentsJson }: ToolCallPart,
  id: string,
  status: Status,
): object {
  const { callType, membersOf } = CLIENT_TOOLS[type];
  const isBegun = status !== 'in_progress';
  return {
    id,
    type: callType,
    call_id: callId,
    ...membersOf(isBegun ? wholeRecord(argumentsJson) : null, isBegun ? argumentsJson : ''),
    // The format has no word for a patch that was cut.
    status: type === 'apply_patch' && status === 'incomplete' ? 'in_progress' : status,
  };
}

/** The diff of a patch, which the stream tells before the item is whole; `null`: the call has none. */
export function diffOf(type: ClientToolType, part: ToolCallPart): string | null {
  if (type !== 'apply_patch') return null;
  const { operation } = recordOf(clientCallItem(type, part, '', 'completed'));
  return textOrNull(recordOf(operation).diff);
}

function wholeRecord(json: string): Members | null {
  const value = parseJson(json);
  return isRecord(value) ? value : null;
}
