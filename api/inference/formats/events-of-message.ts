import { typedEvent } from './stream-text.ts';
import { piecesOf } from './text-pieces.ts';
import { recordOf, records, textOf } from './values.ts';

/** The stream that a whole message would have been. */
export function eventsOfMessage(message: Record<string, unknown>): Buffer {
  const {
    content,
    stop_reason = null,
    stop_sequence = null,
    stop_details,
    container,
    context_management,
    usage,
  } = message;
  const begun = {
    ...message,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    // They tell of the end, and the event before the last has them.
    ...(stop_details === undefined ? {} : { stop_details: null }),
    ...(container === undefined ? {} : { container: null }),
    ...(context_management === undefined ? {} : { context_management: null }),
    ...(usage === undefined ? {} : { usage: { ...recordOf(usage), output_tokens: 0 } }),
  };
  const delta = {
    stop_reason,
    stop_sequence,
    ...(stop_details === undefined ? {} : { stop_details }),
    ...(container === undefined ? {} : { container }),
  };
  const managed = context_management === undefined ? {} : { context_management };
  return Buffer.concat([
    typedEvent('message_start', { message: begun }),
    ...records(content).flatMap(eventsOfBlock),
    typedEvent('message_delta', { delta, ...managed, usage }),
    typedEvent('message_stop', {}),
  ]);
}

function eventsOfBlock(block: Record<string, unknown>, index: number): Buffer[] {
  const { begun, deltas } = inPieces(block);
  return [
    typedEvent('content_block_start', { index, content_block: begun }),
    ...deltas.map((delta) => typedEvent('content_block_delta', { index, delta })),
    typedEvent('content_block_stop', { index }),
  ];
}

/** A block begins empty where its content comes in pieces. */
function inPieces(block: Record<string, unknown>): { begun: object; deltas: object[] } {
  const { type, text, thinking, signature, citations, input } = block;
  switch (type) {
    case 'text':
      return {
        begun: { ...block, text: '', ...(Array.isArray(citations) ? { citations: [] } : {}) },
        deltas: [
          ...piecesOf(textOf(text)).map((piece) => ({ type: 'text_delta', text: piece })),
          ...records(citations).map((citation) => ({ type: 'citations_delta', citation })),
        ],
      };
    case 'thinking':
      return {
        begun: { ...block, thinking: '', signature: '' },
        deltas: [
          ...piecesOf(textOf(thinking)).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
          ...(textOf(signature) === '' ? [] : [{ type: 'signature_delta', signature }]),
        ],
      };
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use': {
      const json = JSON.stringify(input ?? {});
      return {
        begun: { ...block, input: {} },
        deltas: piecesOf(json).map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
      };
    }
    default:
      return { begun: block, deltas: [] };
  }
}
