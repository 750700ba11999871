import type { AssistantPart, Conversation } from '#core/conversation/conversation.ts';
import { isRecord } from '#core/is-record.ts';
import { withCallSignature } from '../formats/call-signature.ts';
import type { UnsupportedFields } from '../formats/unsupported-fields.ts';

/** One format takes a schema without its type, the other one without properties: with both it is good for either. */
export const objectSchema = (parameters: unknown): unknown =>
  parameters === null || isRecord(parameters)
    ? { type: 'object', ...(hasShape(parameters) ? {} : { properties: {} }), ...parameters }
    : parameters;

const hasShape = (schema: Record<string, unknown> | null): boolean =>
  schema !== null && ['properties', '$ref', 'anyOf', 'oneOf', 'allOf'].some((name) => name in schema);

export const verbosityAt = (level: string | null, at: string): Conversation['verbosity'] =>
  level === null ? null : { level, at };

/** To call a tool that the request does not name. */
export function refuseLoneChoice({ tools, toolChoice }: Conversation, unsupported: UnsupportedFields): void {
  if (tools.length > 0 || toolChoice === null) return;
  if (toolChoice.type === 'required' || toolChoice.type === 'tool')
    unsupported.add('tool_choice', 'a tool that must be called and is not sent');
}

export interface ChatCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

/**
 * Writes the calls of an answer as a chat has them.
 *
 * @param isTaken Says which of the signatures that stand before calls are written beside them.
 */
export function chatCallsOf(
  parts: readonly AssistantPart[],
  isTaken: (signature: string) => boolean,
): ChatCall[] | undefined {
  const calls: ChatCall[] = [];
  let signature: string | undefined;
  for (const part of parts) {
    if (part.type === 'reasoning') signature = part.callSignature ?? signature;
    if (part.type !== 'tool_call') continue;
    const { id, name, argumentsJson } = part;
    const call: ChatCall = { id, type: 'function', function: { name, arguments: argumentsJson || '{}' } };
    calls.push(signature !== undefined && isTaken(signature) ? withCallSignature(call, signature) : call);
    signature = undefined;
  }
  return calls.length === 0 ? undefined : calls;
}
