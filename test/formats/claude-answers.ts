import { isApiError } from '../../api/contract/errors.ts';
import { translate } from './ask.ts';

/** The body that Claude is sent for a request in responses, and how its arguments are named there. */
export function translateFor(body: object, upstreamModel: string) {
  const result = translate('responses', 'messages', body, { upstreamModel });
  if (isApiError(result)) throw new Error(result.message);
  const sent: Record<string, unknown> = JSON.parse(result.object.bytes.toString());
  return { sent, argumentNames: result.argumentNames, leftOut: result.leftOut };
}

/** The events of an answer that calls this tool with JSON in pieces. */
export const startOfMessage = (name: string, pieces: readonly string[]): object[] => [
  { type: 'message_start', message: { id: 'm', usage: { input_tokens: 1, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'c0', name, input: {} } },
  ...pieces.map((partial_json) => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'input_json_delta', partial_json },
  })),
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
];
