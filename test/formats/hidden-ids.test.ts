import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { AnswerCollector } from '../../api/inference/translation/answer-collector.ts';
import { openSink, openSourceOf, writeAnswer } from '../../api/inference/translation/translate-answer.ts';
import { TranslatedStream } from '../../api/inference/translation/translated-stream.ts';
import { WholeAnswer } from '../../api/inference/translation/whole-answer.ts';
import { candidate, provider as providerWith } from '../inference/support.ts';
import { asAsked } from './asked-dialect.ts';
import { passedStream } from './passed-stream.ts';
import { piecesOf, relayStream } from './relay-stream.ts';
import { identity, tokens } from './shown-answers.ts';

/* No id that reaches a caller repeats the provider's key or address, whichever format the caller speaks. */

const KEY = 'sk-prov-Zx81kQpLm29vTT07';
const HOST = 'llm7.corp.internal';
const hiddenWords = { id: 'p1', apiKey: KEY, baseUrl: `http://${HOST}:8000/v1` };

const formats = ['chat', 'responses', 'messages'] as const;

const call = (id: string) => ({ id, type: 'function', function: { name: 'find', arguments: '{"a":1}' } });
const chatOf = (id: string, callId: string) => {
  const frame = { id, created: 1, model: 'm' };
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...{ ...frame, object: 'chat.completion.chunk' },
    choices: [{ index: 0, delta, finish_reason }],
  });
  return {
    events: [
      chunk({ role: 'assistant', content: 'Rain' }),
      chunk({ tool_calls: [{ index: 0, ...call(callId) }] }),
      chunk({}, 'tool_calls'),
    ],
    whole: {
      ...{ ...frame, object: 'chat.completion' },
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Rain', tool_calls: [call(callId)] },
          finish_reason: 'tool_calls',
        },
      ],
    },
  };
};
const messagesOf = (id: string, callId: string) => {
  const block = { type: 'tool_use', id: callId, name: 'find', input: { a: 1 } };
  const message = { id, type: 'message', role: 'assistant', model: 'm', usage: { input_tokens: 1 } };
  return {
    events: [
      { type: 'message_start', message: { ...message, content: [] } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Rain' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: block },
      { type: 'content_block_stop', index: 1 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ],
    whole: { ...message, content: [{ type: 'text', text: 'Rain' }, block], stop_reason: 'tool_use' },
  };
};
const answerOf = { chat: chatOf, messages: messagesOf };

const ways = (['chat', 'messages'] as const).flatMap((from) =>
  formats.flatMap((to) =>
    [`x-${KEY}`, `http://${HOST}:8000/v1#1`].map((id): [FormatName, FormatName, string] => [from, to, id]),
  ),
);

function expectNothing(text: string): void {
  expect(text).toContain('Rain');
  expect(text).toContain('find');
  for (const secret of [KEY, HOST]) expect(text).not.toContain(secret);
}

describe.each(ways)('an answer in the format of %s for a caller of %s under the id %s', (from, to, id) => {
  const { events, whole } = from === 'responses' ? chatOf(id, id) : answerOf[from](id, id);
  const asked = candidate({ format: callFormats[from], provider: providerWith(hiddenWords) });
  const open = () => openSourceOf(asked);
  const datas = events.map((event) => Buffer.from(JSON.stringify(event)));

  it('is a stream with ids of the gateway', () => {
    const stream = new TranslatedStream(open(), openSink(to, identity, asAsked));
    const shown = datas.map((data) => {
      const read = stream.read(data, '');
      return read.kind === 'changed' ? read.events.toString() : '';
    });
    expectNothing(shown.join('') + stream.end({ identity, shown: 1n, tokens }).toString());
  });

  it('is JSON with ids of the gateway, streamed or whole', () => {
    const collector = new AnswerCollector(open());
    for (const data of datas) collector.read(data, '');
    expectNothing(writeAnswer(to, collector.finish(), identity, asAsked).bytes.toString());
    const text = JSON.stringify(whole);
    const pieces = open().readWhole(Buffer.from(text), JSON.parse(text));
    expectNothing(writeAnswer(to, WholeAnswer.of(pieces), identity, asAsked).bytes.toString());
  });
});

it('a chat that passes has calls whose ids do not repeat the key', async () => {
  const { events } = chatOf('c1', `call_${KEY}`);
  const hidden = { provider: hiddenWords, upstreamModel: 'm', publicModel: 'm' };
  const reader = callFormats.chat.openStream({
    ...{ upstreamModel: 'm', publicModel: 'm', showUsage: true, hidden, ownId: 'gen-1', createdAtS: 1 },
  });
  const sent = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  const { text } = await relayStream(reader, piecesOf(sent, 1_000_000));
  expectNothing(text);
  expect(text).toContain('"id":"call_');
});

it('a call of a chat that passes keeps an id that tells nothing', async () => {
  expect(await passedStream(chatOf('c1', 'call_abc').events)).toContain('"id":"call_abc"');
});
