import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { madeCallId } from '../../api/inference/formats/call-numbers.ts';
import { chatFormat } from '../../api/inference/formats/chat-format.ts';
import { mergeDelta } from '../../api/inference/formats/merge-delta.ts';
import { messagesFormat } from '../../api/inference/formats/messages-format.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { FORMATS, requestIn } from './requests.ts';

/** A text in pieces. */
const pieces = fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 5 }), { maxLength: 6 });

describe('the chunks of a chat', () => {
  const anyCall = fc.record({ id: fc.string(), name: fc.string(), json: pieces });
  const anyAnswer = fc.record({
    content: pieces,
    reasoning: pieces,
    calls: fc.array(anyCall, { maxLength: 3 }),
    finish: fc.constantFrom('stop', 'length', 'tool_calls'),
    choices: fc.integer({ min: 1, max: 3 }),
  });

  it('put together are the answer that they are pieces of', () => {
    fc.assert(
      fc.property(anyAnswer, fc.infiniteStream(fc.nat({ max: 99 })), (answer, order) => {
        const chunk = (index: number, delta: object, finish_reason: string | null = null) => ({
          id: 'gen-1',
          object: 'chat.completion.chunk',
          created: 7,
          model: 'm',
          provider: 'p',
          choices: [{ index, delta, finish_reason, logprobs: null }],
        });
        const deltas = [
          { role: 'assistant', content: '' },
          ...answer.reasoning.map((reasoning) => ({ reasoning })),
          ...answer.content.map((content) => ({ content })),
          ...answer.calls.flatMap(({ id, name, json }, index) => [
            { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] },
            // Some servers repeat the id in every piece.
            ...json.map((text) => ({ tool_calls: [{ index, id, function: { arguments: text } }] })),
          ]),
        ];
        // The choices come side by side, in any order.
        const queues = Array.from({ length: answer.choices }, (_, index) => [
          ...deltas.map((delta) => chunk(index, delta)),
          chunk(index, {}, answer.finish),
        ]);
        const assembly = chatFormat.openAssembly();
        const read = (data: object) => assembly.read(Buffer.from(JSON.stringify(data)), '');
        while (queues.some((queue) => queue.length > 0)) {
          const open = queues.filter((queue) => queue.length > 0);
          const next = open[(order.next().value ?? 0) % open.length]?.shift();
          if (next !== undefined) expect(read(next)).toEqual({ kind: 'kept' });
        }
        const usage = '{"prompt_tokens":1,"completion_tokens":2,"cost":0.000000000000000001}';
        assembly.read(Buffer.from(`{"id":"gen-1","choices":[],"usage":${usage}}`), '');
        const text = assembly.answer()?.toString() ?? '';
        expect(text.endsWith(`,"usage":${usage}}`)).toBe(true);
        // A call that has neither name nor arguments is none.
        const calls = answer.calls.filter(({ name, json }) => name !== '' || json.length > 0);
        const messageOf = (choice: number) => ({
          role: 'assistant',
          content: answer.content.join(''),
          refusal: null,
          ...(answer.reasoning.length === 0 ? {} : { reasoning: answer.reasoning.join('') }),
          ...(calls.length === 0
            ? {}
            : {
                tool_calls: calls.map(({ id, name, json }, index) => ({
                  // A call without an id could not be answered, nor could one with that of another.
                  id:
                    id !== '' && calls.findIndex((call) => call.id === id) === index
                      ? id
                      : madeCallId(choice === 0 ? 'gen-1' : `gen-1 ${choice}`, index),
                  type: 'function',
                  // Arguments of nothing are an object of nothing.
                  function: { name, arguments: json.join('') || '{}' },
                })),
              }),
        });
        expect(JSON.parse(text)).toEqual({
          id: 'gen-1',
          object: 'chat.completion',
          created: 7,
          model: 'm',
          provider: 'p',
          system_fingerprint: null,
          usage: JSON.parse(usage),
          choices: Array.from({ length: answer.choices }, (_, index) => ({
            index,
            message: messageOf(index),
            finish_reason: answer.finish,
            logprobs: null,
          })),
        });
      }),
      { numRuns: 200 },
    );
  });

  it('keep fields that nobody has heard of yet', () => {
    const whole = {};
    mergeDelta(whole, { news: { text: 'a', list: [{ index: 1, text: 'x' }] } });
    mergeDelta(whole, {
      news: {
        text: 'b',
        list: [
          { index: 1, text: 'y' },
          { index: 0, text: 'z' },
        ],
        score: 3,
      },
    });
    expect(whole).toEqual({
      news: {
        text: 'ab',
        list: [
          { index: 1, text: 'xy' },
          { index: 0, text: 'z' },
        ],
        score: 3,
      },
    });
  });

  it('are none where they nest so deep that nobody could put them together', () => {
    const deep = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`;
    for (const chunk of [`{"choices":[{"index":0,"delta":${deep}}]}`, `{"choices":[],"z":${deep}}`]) {
      const assembly = chatFormat.openAssembly();
      expect(assembly.read(Buffer.from('{"choices":[{"index":0,"delta":{}}]}'), '').kind).toBe('kept');
      expect(assembly.read(Buffer.from(chunk), '').kind).toBe('malformed');
      expect(assembly.read(Buffer.from(chunk), '').kind).toBe('malformed');
    }
  });

  it('cannot reach the prototype of anything', () => {
    const whole = {};
    mergeDelta(whole, JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'));
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    expect(JSON.stringify(whole)).toContain('polluted');
  });
});

it('the events of a message put together are the message', () => {
  const events = [
    {
      type: 'message_start',
      message: {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'x',
        content: [],
        usage: { input_tokens: 4, output_tokens: 1 },
      },
    },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'thinking', thinking: '', signature: '' },
    },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'a' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'b' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 's' } },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hel' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'lo' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'citations_delta', citation: { url: 'u' } } },
    {
      type: 'content_block_start',
      index: 2,
      content_block: { type: 'tool_use', id: 't', name: 'f', input: {} },
    },
    { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"a":' } },
    { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '1}' } },
    { type: 'ping' },
    {
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { output_tokens: 9 },
    },
  ];
  const assembly = messagesFormat.openAssembly();
  for (const event of events) {
    expect(assembly.read(Buffer.from(JSON.stringify(event)), event.type).kind).toBe('kept');
  }
  expect(assembly.read(Buffer.from('{"type":"message_stop"}'), 'message_stop').kind).toBe('done');
  expect(JSON.parse(assembly.answer()?.toString() ?? '')).toEqual({
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'x',
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 4, output_tokens: 9 },
    content: [
      { type: 'thinking', thinking: 'ab', signature: 's' },
      { type: 'text', text: 'Hello', citations: [{ url: 'u' }] },
      { type: 'tool_use', id: 't', name: 'f', input: { a: 1 } },
    ],
  });
});

describe('a caller who waits for the whole answer', () => {
  let streaming: TestGateway;
  let whole: TestGateway;
  const yaml = (cancel: string) => `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers: [{ id: sim, kind: simulator, cancel: ${cancel}, baseUrl: PROVIDER_URL }]
`;
  beforeAll(async () => {
    streaming = await startTestGateway({ yaml: yaml('stops_billing') });
    whole = await startTestGateway({ yaml: yaml('bills_full') });
  });
  afterAll(async () => {
    await streaming.stop();
    await whole.stop();
  });
  afterEach(() => streaming.provider.reset());

  const MODEL = 'faregate-sim/thinker';
  const plain = (text: string) =>
    text
      .replaceAll(/gen-\d+-[0-9a-z]+/g, 'gen')
      .replaceAll(/"created(_at)?":\d+/g, '"created":0')
      .replaceAll(/"completed_at":\d+/g, '"completed_at":0')
      .replaceAll(/(rs|msg|fc)_\w+/g, '$1');

  it.each(FORMATS)('gets by %s the same whether the provider was asked for a stream', async (format) => {
    const ask = async (gateway: TestGateway) => {
      const res = await gateway.post(requestIn(format, MODEL), { path: pathOf(format) });
      return {
        status: res.status,
        type: res.headers.get('content-type'),
        body: JSON.parse(plain(await res.text())),
      };
    };
    const assembled = await ask(streaming);
    const passed = await ask(whole);
    expect(JSON.parse(streaming.provider.lastRequest(pathOf(format)).body.toString()).stream).toBe(true);
    expect(JSON.parse(whole.provider.lastRequest(pathOf(format)).body.toString()).stream).toBeUndefined();
    expect(assembled).toEqual(passed);
    expect(assembled.status).toBe(200);
  });

  it.each(FORMATS)('and hangs up stops the cost (%s)', async (format) => {
    const agent = await streaming.newAgent();
    streaming.provider.next({ path: pathOf(format), chunks: 100, gate: 'rest', gateAt: 3_000 });
    const hangUp = new AbortController();
    const { signal } = hangUp;
    const call = streaming
      .post(requestIn(format, MODEL), { path: pathOf(format), agent, signal })
      .catch(() => null);
    await streaming.provider.reached('rest');
    hangUp.abort();
    await call;
    const view = await streaming.settled(agent);
    expect(view.chargedNanoUsd).toBe(streaming.provider.lastBill().costNanoUsd);
    expect((await streaming.calls(agent))[0]?.outcome).toBe('stopped');
  });

  it('gets no answer that is longer than a process can keep', async () => {
    const agent = await streaming.newAgent();
    const text = 'x'.repeat(500_000);
    streaming.provider.next({ text, chunks: 80 });
    const res = await streaming.post(requestIn('chat', MODEL), { agent });
    expect([res.status, JSON.parse(await res.text()).error.code]).toEqual([502, 'provider_error']);
  });
});
