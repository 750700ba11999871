import { describe, expect, it } from 'vitest';
import { chatFormat } from '../../api/inference/formats/chat-format.ts';
import { messagesFormat } from '../../api/inference/formats/messages-format.ts';
import { responsesFormat } from '../../api/inference/formats/responses-format.ts';
import { piecesOf, relayEvents, relayStream } from './relay-stream.ts';

/* A piece that differs from one before it in its text alone passes unread only if that one passed unread. */

const WORDS = ['one ', 'two ', 'an error', 'my usage', 'Metrics', 'the end'];
const names = { upstreamModel: 'm', publicModel: 'm', showUsage: false, ownId: 'own', createdAtS: 1 };

const frame = { id: 'gen-1', object: 'chat.completion.chunk', created: 1, model: 'm' };
const chunk = (delta: object, more: object = {}): object => ({
  ...frame,
  choices: [{ index: 0, delta, finish_reason: null }],
  ...more,
});
const chat = (more: object = {}): object[] => [
  chunk({ role: 'assistant', content: '' }, more),
  ...WORDS.map((content) => chunk({ content }, more)),
];

const blockPiece = (said: string): object => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text: said },
});
const messages = (): object[] => [
  {
    type: 'message_start',
    message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ...WORDS.map(blockPiece),
];

const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'in_progress',
  model: 'm',
  output: [],
};
const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] };
const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
const numbered = (events: readonly object[]): object[] =>
  events.map((event, number) => ({ ...event, sequence_number: number }));
const responses = (more: object = {}): object[] =>
  numbered([
    { type: 'response.created', response },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.content_part.added', ...at, part: { type: 'output_text', text: '', annotations: [] } },
    ...WORDS.map((delta, place) => ({
      ...{ type: 'response.output_text.delta', ...at, delta, logprobs: [] },
      ...{ obfuscation: 'x'.repeat(place), ...more },
    })),
  ]);

const eventsOf = (stream: string): string[] => stream.split('\n\n').filter((event) => event !== '');
const sentAs = (events: readonly object[], isNamed: boolean): string =>
  events
    .map((event) => {
      const name = isNamed && 'type' in event ? `event: ${event.type}\n` : '';
      return `${name}data: ${JSON.stringify(event)}\n\n`;
    })
    .join('');

describe.each([
  ['chat', chatFormat, chat(), false],
  ['messages', messagesFormat, messages(), true],
  ['responses', responsesFormat, responses(), true],
] as const)('a stream of %s', (_, format, events, isNamed) => {
  it.each([1, 40, 1_000_000])('passes its pieces byte for byte, %i bytes at once', async (bytesAtOnce) => {
    const sent = sentAs(events, isNamed);
    const { text } = await relayStream(format.openStream(names), piecesOf(sent, bytesAtOnce));
    const pieces = eventsOf(sent).slice(-WORDS.length);
    expect(eventsOf(text).slice(-WORDS.length)).toEqual(pieces);
  });
});

describe('a piece that is read passes no later one unread', () => {
  it('of a chat whose every chunk says that there is no usage', async () => {
    const { shown } = await relayEvents('chat', chat({ usage: null }) as Record<string, unknown>[]);
    for (const word of WORDS) expect(shown).toContain(JSON.stringify(word));
    expect(shown).not.toContain('"usage"');
  });

  it('of a chat whose chunks name no model', async () => {
    const { shown } = await relayEvents('chat', chat({ model: '' }) as Record<string, unknown>[]);
    expect(eventsOf(shown).filter((event) => event.includes('"model":"m"')).length).toBeGreaterThanOrEqual(
      WORDS.length,
    );
  });

  it('of responses whose every piece has a record of usage', async () => {
    const usage = { input_tokens: 3, output_tokens: 1, total_tokens: 4 };
    const { shown } = await relayEvents('responses', responses({ usage }) as Record<string, unknown>[]);
    for (const word of WORDS) expect(shown).toContain(JSON.stringify(word));
    expect(shown).not.toContain('"input_tokens"');
  });
});

it('pieces of a response whose numbers have a gap are numbered anew from there on', async () => {
  const events = responses() as { sequence_number: number }[];
  const gapped = events.map((event, place) => ({
    ...event,
    sequence_number: event.sequence_number + (place > 5 ? 10 : 0),
  }));
  const { shown } = await relayEvents('responses', gapped);
  const numbers = [...shown.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number));
  expect(numbers).toEqual(events.map((_, place) => place));
});
