import { isRecord } from '#core/is-record.ts';
import type { CallPlan } from '../admit/call-plan.ts';
import { splitJsonList } from '../json/json-list.ts';
import { memberText } from '../json/json-object.ts';

/* The members of a response object that repeat the request. Clients read them without asking whether they are there. */

/** Members that repeat the request, with what stands there where the request says nothing. */
const ECHOED: readonly (readonly [string, string])[] = [
  ['background', 'false'],
  ['frequency_penalty', '0'],
  ['instructions', 'null'],
  ['max_output_tokens', 'null'],
  ['max_tool_calls', 'null'],
  ['metadata', '{}'],
  ['parallel_tool_calls', 'true'],
  ['presence_penalty', '0'],
  ['previous_response_id', 'null'],
  ['prompt_cache_key', 'null'],
  ['safety_identifier', 'null'],
  ['service_tier', '"default"'],
  ['store', 'false'],
  ['temperature', '1'],
  ['tool_choice', '"auto"'],
  ['top_logprobs', '0'],
  ['top_p', '1'],
  ['truncation', '"disabled"'],
  ['user', 'null'],
];

/** JSON text of the members that repeat the request, as the caller wrote them. */
export function echoOf({ body }: Pick<CallPlan, 'body'>): string {
  const members = ECHOED.map(([name, otherwise]) => {
    const sent = memberText(body, name);
    return `"${name}":${sent === undefined || sent === 'null' ? otherwise : sent}`;
  });
  return `${members.join(',')},"reasoning":${reasoningText(body)},"text":${textText(body)},"tools":${toolsText(body)}`;
}

/** A response says of each function what its request may leave out. */
function toolsText(body: CallPlan['body']): string {
  const sent = memberText(body, 'tools');
  const tools = sent === undefined || sent === 'null' ? [] : splitJsonList(sent);
  return tools === null ? (sent ?? '[]') : `[${tools.map(toolText).join(',')}]`;
}

function toolText(sent: string): string {
  const tool: unknown = JSON.parse(sent);
  if (!isRecord(tool) || tool.type !== 'function') return sent;
  const missing = FUNCTION_MEMBERS.filter((name) => !Object.hasOwn(tool, name)).map(
    (name) => `,"${name}":null`,
  );
  return `${sent.trimEnd().slice(0, -1)}${missing.join('')}}`;
}

const FUNCTION_MEMBERS = ['description', 'parameters', 'strict'];

function reasoningText(body: CallPlan['body']): string {
  const { effort = null, summary = null } = parsed(body, 'reasoning');
  return JSON.stringify({ effort, summary });
}

/** The member as the caller wrote it, where it says a format. */
function textText(body: CallPlan['body']): string {
  const { format, ...rest } = parsed(body, 'text');
  const sent = memberText(body, 'text');
  if (sent !== undefined && format !== undefined && format !== null) return sent;
  return JSON.stringify({ format: { type: 'text' }, ...rest });
}

function parsed(body: CallPlan['body'], name: string): Record<string, unknown> {
  const text = memberText(body, name);
  const value: unknown = text === undefined ? null : JSON.parse(text);
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
