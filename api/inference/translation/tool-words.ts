import type { AssistantPart, Conversation } from '#core/conversation/conversation.ts';
import { isRecord } from '#core/is-record.ts';
import type { UnsupportedFields } from '../formats/unsupported-fields.ts';

/** One format takes a schema without its type, the other one without properties: with both it is good for either. */
export const objectSchema = (parameters: unknown): unknown =>
  parameters === null || isRecord(parameters)
    ? { type: 'object', ...(hasShape(parameters) ? {} : { properties: {} }), ...parameters }
    : parameters;

const hasShape = (schema: Record<string, unknown> | null): boolean =>
  schema !== null && ['properties', '$ref', 'anyOf', 'oneOf', 'allOf'].some((name) => name in schema);

/** To call a tool that the request does not name. */
export function refuseLoneChoice({ tools, toolChoice }: Conversation, unsupported: UnsupportedFields): void {
  if (tools.length > 0 || toolChoice === null) return;
  if (toolChoice.type === 'required' || toolChoice.type === 'tool') unsupported.add('tool_choice');
}

/** Writes the calls of an answer as a chat has them. */
export function chatCallsOf(parts: readonly AssistantPart[]): object[] | undefined {
  const calls = parts.filter((part) => part.type === 'tool_call');
  if (calls.length === 0) return undefined;
  return calls.map(({ id, name, argumentsJson }) => ({
    id,
    type: 'function',
    function: { name, arguments: argumentsJson },
  }));
}
