import type { Dialect } from '#core/catalog/dialect.ts';
import { isRecord } from '#core/is-record.ts';
import type { JsonObject, MemberChanges } from '../json/json-object.ts';
import { editMember, sentBytes } from './edit-member.ts';
import { mapRecords, records } from './values.ts';

/*
 * Shells that the caller runs, in a responses body. OpenAI leaves them to the caller. A router takes every shell for one that it runs in a
 * sandbox of its own, at a price by the second, as its page on the tool says, and servers of open models ignore them. So there the
 * request is translated, with functions in the place of shells.
 */

type Members = Readonly<Record<string, unknown>>;

/**
 * Whether a request has a shell, a choice of one or an earlier call, and the server may not leave it to the caller.
 *
 * @param isPlain The server is no router.
 */
export const needsShellAsFunction = (
  { takesCustomTools }: Pick<Dialect, 'takesCustomTools'>,
  isPlain: boolean,
  { tools, tool_choice: choice, input }: Members,
): boolean =>
  !(takesCustomTools && isPlain) &&
  (hasShell(tools) ||
    (isRecord(choice) && (isShell(choice) || hasShell(choice.tools))) ||
    records(input).some((item) => SHELL_CALLS.has(item.type) || hasShell(item.tools)));

const SHELLS: ReadonlySet<unknown> = new Set(['shell', 'local_shell']);
const SHELL_CALLS: ReadonlySet<unknown> = new Set(
  [...SHELLS].flatMap((type) => [`${String(type)}_call`, `${String(type)}_call_output`]),
);

const isShell = ({ type, tools }: Members): boolean => SHELLS.has(type) || hasShell(tools);

/** Also one in a namespace. */
const hasShell = (tools: unknown): boolean => records(tools).some(isShell);

/** Says of a shell that the caller runs it, where the request leaves that to the server. */
export function sayWhoRunsShells(body: JsonObject, changes: MemberChanges): void {
  if (sentBytes(body, 'tools', changes)?.includes(SHELL_TYPE) !== true) return;
  const edit = (tools: unknown): unknown =>
    Array.isArray(tools)
      ? mapRecords(tools, (tool) =>
          tool.type === 'shell' && (tool.environment ?? null) === null
            ? { ...tool, environment: { type: 'local' } }
            : tool,
        )
      : tools;
  editMember(body, 'tools', edit, changes);
}

const SHELL_TYPE = Buffer.from('"shell"');
