import type { FormatName } from '#core/catalog/catalog.ts';
import { isRecord } from '#core/is-record.ts';
import { parseExact } from '../json/exact-json.ts';
import { dataEvent, namedEvent } from './stream-text.ts';
import { recordOf, records, textOf } from './values.ts';

/**
 * The stream that a whole answer would have been, in the same format: for a caller who waits for events of a server that sends none.
 * `null`: it is no answer.
 */
export function eventsOfAnswer(format: FormatName, bytes: Buffer): Buffer | null {
  const answer = parsed(bytes);
  if (!isRecord(answer)) return null;
  switch (format) {
    case 'chat':
      return chatEvents(answer);
    case 'responses':
      return responsesEvents(answer);
    case 'messages':
      return messagesEvents(answer);
  }
}

function parsed(bytes: Buffer): unknown {
  try {
    return parseExact(bytes.toString('utf8'));
  } catch {
    return null;
  }
}

const data = (value: object): Buffer => dataEvent(Buffer.from(JSON.stringify(value)));
const named = (type: string, members: object): Buffer =>
  namedEvent(type, Buffer.from(JSON.stringify({ type, ...members })));

function chatEvents({ choices, usage, ...frame }: Record<string, unknown>): Buffer {
  const object = 'chat.completion.chunk';
  const chunks = records(choices).map(({ message, ...choice }) => {
    const { tool_calls: calls, ...said } = recordOf(message);
    const numbered = records(calls).map((call, index) => ({ index, ...call }));
    return { ...choice, delta: numbered.length === 0 ? said : { ...said, tool_calls: numbered } };
  });
  const last = usage === undefined ? [] : [data({ ...frame, object, choices: [], usage })];
  const done = dataEvent(Buffer.from('[DONE]'));
  return Buffer.concat([data({ ...frame, object, choices: chunks }), ...last, done]);
}

function messagesEvents(message: Record<string, unknown>): Buffer {
  const { content, stop_reason, stop_sequence, usage } = message;
  const begun = { ...message, content: [], stop_reason: null, stop_sequence: null };
  return Buffer.concat([
    named('message_start', { message: begun }),
    ...records(content).flatMap(blockEvents),
    named('message_delta', { delta: { stop_reason, stop_sequence: stop_sequence ?? null }, usage }),
    named('message_stop', {}),
  ]);
}

/** A block begins empty where its text comes in pieces. */
function blockEvents(block: Record<string, unknown>, index: number): Buffer[] {
  const delta = (given: object): Buffer => named('content_block_delta', { index, delta: given });
  const [begun, deltas] = ((): [object, Buffer[]] => {
    switch (block.type) {
      case 'text':
        return [{ ...block, text: '' }, [delta({ type: 'text_delta', text: textOf(block.text) })]];
      case 'thinking':
        return [
          { ...block, thinking: '', signature: '' },
          [
            delta({ type: 'thinking_delta', thinking: textOf(block.thinking) }),
            delta({ type: 'signature_delta', signature: textOf(block.signature) }),
          ],
        ];
      case 'tool_use':
        return [
          { ...block, input: {} },
          [delta({ type: 'input_json_delta', partial_json: JSON.stringify(block.input ?? {}) })],
        ];
      default:
        return [block, []];
    }
  })();
  return [
    named('content_block_start', { index, content_block: begun }),
    ...deltas,
    named('content_block_stop', { index }),
  ];
}

function responsesEvents(response: Record<string, unknown>): Buffer {
  let sequence = 0;
  const event = (type: string, members: object): Buffer =>
    named(type, { sequence_number: sequence++, ...members });
  const begun = { ...response, status: 'in_progress', output: [], usage: null };
  const type = response.status === 'incomplete' ? 'response.incomplete' : 'response.completed';
  return Buffer.concat([
    event('response.created', { response: begun }),
    event('response.in_progress', { response: begun }),
    ...records(response.output).flatMap((item, output_index) => [
      event('response.output_item.added', { output_index, item: { ...item, status: 'in_progress' } }),
      ...textEvents(item, output_index, event),
      event('response.output_item.done', { output_index, item }),
    ]),
    event(type, { response }),
  ]);
}

/** Clients that show a text as it comes read its deltas alone. */
function textEvents(
  item: Record<string, unknown>,
  output_index: number,
  event: (type: string, members: object) => Buffer,
): Buffer[] {
  if (item.type !== 'message') return [];
  return records(item.content).flatMap((part, content_index) => {
    const at = { item_id: item.id, output_index, content_index };
    if (part.type !== 'output_text') return [];
    return [
      event('response.content_part.added', { ...at, part: { ...part, text: '', annotations: [] } }),
      event('response.output_text.delta', { ...at, delta: part.text, logprobs: [] }),
      event('response.output_text.done', { ...at, text: part.text, logprobs: [] }),
      event('response.content_part.done', { ...at, part }),
    ];
  });
}
