import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { ChatSource } from '../../api/inference/translation/chat-source.ts';
import { MessagesSource } from '../../api/inference/translation/messages-source.ts';
import { piecesOf, relayStream } from './relay-stream.ts';

/* A provider that answers a stream in another format than it was asked in gives no answer. */

const UPSTREAM = 'up-x7';

type Event = Readonly<Record<string, unknown>>;
const chat: Event[] = [
  {
    ...{ id: 'c1', object: 'chat.completion.chunk', created: 1, model: UPSTREAM },
    choices: [{ index: 0, delta: { role: 'assistant', content: 'Rain' }, finish_reason: null }],
  },
  {
    ...{ id: 'c1', object: 'chat.completion.chunk', created: 1, model: UPSTREAM },
    choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
  },
];
const azureChat: Event[] = [{ id: '', model: '', choices: [], prompt_filter_results: [] }, ...chat];
const messages: Event[] = [
  { type: 'message_start', message: { id: 'm', model: UPSTREAM, content: [], usage: { input_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Rain' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
];
const responses: Event[] = [
  { type: 'response.created', response: { id: 'r', model: UPSTREAM, status: 'in_progress', output: [] } },
  { type: 'response.output_text.delta', item_id: 'i', output_index: 0, content_index: 0, delta: 'Rain' },
  {
    type: 'response.completed',
    response: { id: 'r', model: UPSTREAM, status: 'completed', output: [], usage: { output_tokens: 2 } },
  },
];
const gemini: Event[] = [
  { candidates: [{ content: { parts: [{ text: 'Rain' }] } }], modelVersion: UPSTREAM },
  { candidates: [{ content: { parts: [] }, finishReason: 'STOP' }], modelVersion: UPSTREAM },
];

const names: [string, Event[]][] = [
  ['chat chunks', chat],
  ['chat chunks of Azure', azureChat],
  ['events of messages', messages],
  ['events of responses', responses],
  ['chunks of Gemini', gemini],
];
const own: Record<FormatName, Event[][]> = {
  chat: [chat, azureChat],
  messages: [messages],
  responses: [responses],
};
const foreign = (['chat', 'messages', 'responses'] as const).flatMap((format) =>
  names.flatMap(([name, events]) => (own[format].includes(events) ? [] : [{ format, name, events }])),
);

const linesOf = (events: readonly Event[], isNamed: boolean): string =>
  events
    .map((event) => {
      const name = isNamed && typeof event.type === 'string' ? `event: ${event.type}\n` : '';
      return `${name}data: ${JSON.stringify(event)}\n\n`;
    })
    .join('');

describe.each(foreign)('a stream of $format that is answered with $name', ({ format, events }) => {
  it.each([true, false])('ends before anything is written, named: %s', async (isNamed) => {
    const reader = callFormats[format].openStream({
      ...{ upstreamModel: UPSTREAM, publicModel: 'own/x', showUsage: true, ownId: 'gen-1', createdAtS: 1 },
    });
    const { end, text } = await relayStream(reader, piecesOf(linesOf(events, isNamed), 1_000_000));
    expect(text).toBe('');
    expect(end.kind).not.toBe('complete');
  });

  it('is no answer for a caller of another format', () => {
    if (format === 'responses') return;
    const source = format === 'chat' ? new ChatSource() : new MessagesSource();
    // The message in the first event of another format reads like that of an error.
    expect(source.read(Buffer.from(JSON.stringify(events[0])), '').kind).toMatch(/^(?:malformed|error)$/);
  });
});
