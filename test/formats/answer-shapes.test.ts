import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { recordOf, records } from '../../api/inference/formats/values.ts';
import { pathOf } from '../support/path-of.ts';
import { type Play, plays } from '../support/raw-provider.ts';
import { modelOf, type ProviderKind } from './format-gateway.ts';
import { useRawFormatGateway } from './raw-format-gateway.ts';
import { FORMATS, requestIn } from './requests.ts';

/* Servers of chats write good answers in shapes that OpenAI does not document, and all that they say reaches the caller. */

const raw = useRawFormatGateway();

async function ask(format: FormatName, play: Play, extra: object = {}, kind: ProviderKind = 'chat only') {
  raw.provider.answers = play;
  const maxTokens = format === 'messages' ? { max_tokens: 100 } : {};
  const body = requestIn(format, modelOf[kind], { ...maxTokens, ...extra });
  const agent = await raw.gateway.newAgent({ creditUsd: '1.00' });
  const response = await raw.gateway.post(body, { path: pathOf(format), agent });
  const text = await response.text();
  const told: Record<string, unknown> = text.startsWith('{') ? JSON.parse(text) : {};
  return { status: response.status, text, told };
}

/** The only text of an answer. */
function textOf(format: FormatName, told: Record<string, unknown>): unknown {
  switch (format) {
    case 'chat':
      return recordOf(records(told.choices)[0]?.message).content;
    case 'responses':
      return told.output_text;
    case 'messages':
      return records(told.content)[0]?.text;
  }
}

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const frame = { id: 'x', object: 'chat.completion', created: 1_700_000_000, model: 'm' };
const whole = (message: object, finish_reason: unknown = 'stop') => ({
  ...frame,
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
  usage,
});
const chunk = (delta: object, more: object = {}, top: object = {}) => ({
  ...frame,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
  ...top,
});
const counted = (counters: object = usage) => ({
  ...frame,
  object: 'chat.completion.chunk',
  choices: [],
  usage: counters,
});
const json = (answer: object): Play => plays(JSON.stringify(answer), 'application/json');
const streams = (...chunks: object[]): Play =>
  plays(
    [...chunks.map((each) => JSON.stringify(each)), '[DONE]'].map((data) => `data: ${data}\n\n`).join(''),
  );
const says = (content: string) => [
  chunk({ role: 'assistant', content }),
  chunk({}, { finish_reason: 'stop' }),
  counted(),
];

describe.each(FORMATS)('asked in %s, a good answer is read', (format) => {
  it('behind a mark of the byte order', async () => {
    const play = plays(`\ufeff${JSON.stringify(whole({ content: 'Hi' }))}`, 'application/json');
    expect(textOf(format, (await ask(format, play)).told)).toBe('Hi');
  });

  it.each([201, 203])('under status %d', async (status) => {
    const play: Play = (res) =>
      void res
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify(whole({ content: 'Hi' })));
    expect(textOf(format, (await ask(format, play)).told)).toBe('Hi');
  });

  it('of which one line break ends each event', async () => {
    const lines = [...says('Hi').map((each) => JSON.stringify(each)), '[DONE]'];
    const play = plays(lines.map((data) => `data: ${data}\n`).join(''));
    expect(textOf(format, (await ask(format, play)).told)).toBe('Hi');
    expect((await ask(format, play, { stream: true })).text).toContain('"Hi"');
  });

  it('that was compressed, by a list of codings', async () => {
    const bytes = gzipSync(JSON.stringify(whole({ content: 'Hi' })));
    const play = plays(bytes, 'application/json', { 'content-encoding': 'identity, gzip' });
    expect(textOf(format, (await ask(format, play)).told)).toBe('Hi');
  });

  it('that has no choice, as one of no text', async () => {
    const none = { prompt_tokens: 10, completion_tokens: 0, total_tokens: 10 };
    for (const play of [json({ ...whole({}), choices: [], usage: none }), streams(counted(none))]) {
      const { status, told } = await ask(format, play);
      expect(status).toBe(200);
      expect(textOf(format, told) ?? '').toBe('');
    }
  });

  it('whose call has its name and its arguments beside its id', async () => {
    const calls = [{ id: 'a', name: 'f', arguments: { a: '1' } }];
    for (const play of [
      json(whole({ content: null, tool_calls: calls }, 'tool_calls')),
      streams(
        chunk({ role: 'assistant', tool_calls: [{ index: 0, ...calls[0] }] }),
        chunk({}, { finish_reason: 'tool_calls' }),
        counted(),
      ),
    ]) {
      const { text } = await ask(format, play);
      expect(text).toContain('"name":"f"');
      expect(text).toMatch(/\{\\?"a\\?":\\?"1\\?"\}/);
    }
  });

  it.each([
    [
      { type: 'length', length: 5 },
      { chat: '"length"', responses: '"incomplete"', messages: '"max_tokens"' },
    ],
    [
      { type: 'stop', matched: 2 },
      { chat: '"stop"', responses: '"completed"', messages: '"end_turn"' },
    ],
  ])('whose reason for the end is an object: %j', async (reason, words) => {
    const play = streams(
      chunk({ role: 'assistant', content: 'Hi' }),
      chunk({}, { finish_reason: reason }),
      counted(),
    );
    expect((await ask(format, play)).text).toContain(words[format]);
    expect((await ask(format, json(whole({ content: 'Hi' }, reason)))).text).toContain(words[format]);
  });
});

it('a whole chat has the members of its format, whatever its server leaves out', async () => {
  const { told } = await ask('chat', json({ choices: [{ message: { content: 'Hi' } }], usage }));
  expect(told).toMatchObject({
    id: expect.any(String),
    object: 'chat.completion',
    created: expect.any(Number),
    model: modelOf['chat only'],
    choices: [{ index: 0, finish_reason: 'stop' }],
  });
});

it('the time of a whole chat is a whole number', async () => {
  const created = 1_700_000_000.5;
  for (const play of [
    json({ ...whole({ content: 'Hi' }), created }),
    streams(...says('Hi').map((each) => ({ ...each, created }))),
  ])
    expect((await ask('chat', play)).told.created).toBe(1_700_000_000);
});

it('a message that calls nothing waits for no result', async () => {
  const play = streams(
    chunk({ role: 'assistant', content: 'Hi' }),
    chunk({}, { finish_reason: 'tool_calls' }),
    counted(),
  );
  expect((await ask('messages', play)).told.stop_reason).toBe('end_turn');
  expect((await ask('messages', play, { stream: true })).text).toContain('"stop_reason":"end_turn"');
});

describe('of an answer that is put together nothing is erased by what says nothing:', () => {
  const filters = { hate: { filtered: false, severity: 'low' } };
  const assembled = async (...chunks: object[]) => (await ask('chat', streams(...chunks, counted()))).told;

  it.each([{}, null, []])('the results of a filter, by %j in the last chunk', async (nothing) => {
    const told = await assembled(
      chunk({ role: 'assistant', content: 'Hi' }, { content_filter_results: filters }),
      chunk({}, { finish_reason: 'stop', content_filter_results: nothing }),
    );
    expect(records(told.choices)[0]?.content_filter_results).toEqual(filters);
  });

  it('the sources beside the choices', async () => {
    const told = await assembled(
      chunk({ role: 'assistant', content: 'Hi' }, {}, { citations: ['https://a.example/'] }),
      chunk({}, { finish_reason: 'stop' }, { citations: [] }),
    );
    expect(told.citations).toEqual(['https://a.example/']);
  });

  it('the ids of tokens, of which each chunk has its own', async () => {
    const told = await assembled(
      chunk({ role: 'assistant', content: 'Hi' }, { token_ids: [1, 2] }),
      chunk({ content: '!' }, { token_ids: [3] }),
      chunk({}, { finish_reason: 'stop', token_ids: [] }),
    );
    expect(records(told.choices)[0]?.token_ids).toEqual([1, 2, 3]);
  });

  it('the ids of tokens, however many come at once', async () => {
    const told = await assembled(
      chunk({ role: 'assistant', content: 'Hi' }, { token_ids: [1] }),
      chunk({}, { finish_reason: 'stop', token_ids: Array.from({ length: 400_000 }, () => 7) }),
    );
    expect(records(told.choices)[0]?.token_ids).toHaveLength(400_001);
  });
});
