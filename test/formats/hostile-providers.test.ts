import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { JSON_ANSWER_BYTES } from '#core/limits.ts';
import { errorStatus, errorType } from '../../api/contract/error-body.ts';
import type { ErrorCode } from '../../api/contract/errors.ts';
import { shapeOfPath } from '../../api/contract/route.ts';
import { SSE_EVENT_BYTES } from '../../api/inference/upstream/stream-relay.ts';
import { startTestGateway, type TestAgent, type TestGateway } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { type Play, plays, pour, type RawProvider, startRawProvider } from '../support/raw-provider.ts';
import { formatYaml, PROVIDER_KINDS, type ProviderKind } from './format-gateway.ts';
import { askedIn, FORMATS, post } from './requests.ts';
import { namedEvent, type Wire, wholeStream, wires } from './wires.ts';

let gateway: TestGateway;
let provider: RawProvider;
beforeAll(async () => {
  provider = await startRawProvider();
  gateway = await startTestGateway({
    // Half of them break: what rests is tested elsewhere.
    yaml: formatYaml(provider.baseUrl, 'stops_billing', { all: 'openai', more: LIMITS }),
  });
});
afterAll(async () => {
  await gateway.stop();
  await provider[Symbol.asyncDispose]();
});

/** Five tokens read and one written, in `message_start`. */
const RECORDED_NANO_USD = 5n * 123n + 457n;

const LIMITS = 'limits: { callsPerMinute: 60000, burst: 60000 }';

interface Heard {
  status: number;
  text: string;
  headers: Headers;
  chargedNanoUsd: bigint;
  /** The error's code, wherever it stands. */
  code: string | null;
}

interface Asked {
  kind: ProviderKind;
  format: FormatName;
  stream: boolean;
}

/** One call to a provider that does this; whatever that is, the promises of every call hold. */
async function hear(asked: Asked, play: Play): Promise<Heard> {
  gateway.running.deps.gateway.health.end = () => undefined;
  provider.answers = play;
  const agent = await gateway.newAgent({ creditUsd: '1' });
  const res = await post(gateway, { ...asked, agent });
  const text = await res.text();
  const { status, headers } = res;
  const code =
    status === 200 && asked.stream ? codeInStream(text, asked.format) : codeInJson(text, res, asked.format);
  const { chargedNanoUsd } = await gateway.settled(agent);
  expect(chargedNanoUsd).toBeGreaterThanOrEqual(0n);
  expect(gateway.running.deps.gateway.openCalls.size).toBe(0);
  expect(gateway.running.deps.gateway.capacity.heldNanoUsd).toBe(0n);
  // What of a failed call a provider had recorded: the counts that its first event named.
  if (status !== 200) expect([0n, RECORDED_NANO_USD]).toContain(chargedNanoUsd);
  expect(gateway.logged.filter(({ event }) => event.includes('fault'))).toEqual([]);
  await expectAlive(agent);
  return { status, text, headers, chargedNanoUsd, code };
}

async function expectAlive(agent: TestAgent): Promise<void> {
  const { running_calls: running, reserved_usd: reserved } = await gateway.balance(agent);
  expect({ running, reserved }).toEqual({ running: 0, reserved: '0' });
}

function codeInJson(text: string, { status, headers }: Response, format: FormatName): string | null {
  expect(headers.get('content-type')).toBe('application/json');
  const body = JSON.parse(text);
  if (status === 200) return null;
  const shape = shapeOfPath(pathOf(format));
  const code: ErrorCode = body.error.code;
  expect(status).toBe(errorStatus(code, shape));
  expect(body.error.type).toBe(errorType(code, shape));
  return code;
}

/** Every line that a client would see is one of the format's. */
function codeInStream(text: string, format: FormatName): string | null {
  expect(text.endsWith('\n\n')).toBe(true);
  let code: string | null = null;
  for (const block of text.slice(0, -2).split('\n\n')) {
    if (block === ': keep-alive') continue;
    const [, name, data = ''] = /^(?:event: ([\w.:-]+)\n)?data: ([^\n\r]*)$/.exec(block) ?? [];
    expect(block).toContain('data: ');
    expect(data).not.toBe('');
    if (data === '[DONE]') {
      expect(format).toBe('chat');
      continue;
    }
    const event = JSON.parse(data);
    if (format === 'chat') expect(name).toBeUndefined();
    else if (event.type !== undefined) expect(name).toBe(event.type);
    if (event.error?.code !== undefined) code = event.error.code;
  }
  return code;
}

const cells = FORMATS.flatMap((format) =>
  PROVIDER_KINDS.flatMap((kind) =>
    [false, true].map((stream): [string, Asked] => [
      `${format}, ${kind}, stream: ${stream}`,
      { format, kind, stream },
    ]),
  ),
);
const wireOf = ({ kind, format }: Asked): Wire => wires[askedIn(kind, format)];
const isTranslated = ({ kind, format }: Asked): boolean => askedIn(kind, format) !== format;

/** What a client would make of the answer. */
function shownText(text: string, stream: boolean): string {
  const values = stream
    ? text
        .split('\n')
        .filter((line) => line.startsWith('data: {'))
        .map((line) => JSON.parse(line.slice(6)))
    : [JSON.parse(text)];
  return values.map((value) => textIn(value)).join('');
}

// biome-ignore lint/suspicious/noExplicitAny: three formats at once
function textIn(value: any): string {
  if (value.type === 'response.output_text.delta') return value.delta;
  if (value.type === 'content_block_delta') return value.delta.text ?? '';
  if (value.type === 'message')
    return value.content.map((each: { text?: string }) => each.text ?? '').join('');
  if (typeof value.output_text === 'string') return value.output_text;
  const choice = value.choices?.[0];
  return choice?.delta?.content ?? choice?.message?.content ?? '';
}

const GREETING = 'Grüße 🚇 – “Hi”';

describe.each(cells)('%s: a provider', (_, asked) => {
  const wire = wireOf(asked);
  const good = wholeStream(wire, 'Grüße ', '🚇 – “Hi”');
  // The last event of a stream of responses is the whole answer.
  const isWholeAnswer = askedIn(asked.kind, asked.format) === 'responses' && !asked.stream;
  const shown = isWholeAnswer ? 'Hi' : GREETING;

  async function expectAnswer(play: Play, text = shown): Promise<Heard> {
    const heard = await hear(asked, play);
    expect({ status: heard.status, code: heard.code }).toEqual({ status: 200, code: null });
    expect(shownText(heard.text, asked.stream)).toBe(text);
    expect(heard.chargedNanoUsd).toBeGreaterThan(0n);
    return heard;
  }

  it('that cuts its bytes one by one is heard whole', async () => {
    await expectAnswer(async (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const byte of Buffer.from(good)) {
        res.write(Buffer.from([byte]));
        await new Promise((resolve) => setImmediate(resolve));
      }
      res.end();
    });
  });

  it.each([
    ['CRLF', good.replaceAll('\n', '\r\n')],
    ['CR alone', good.replaceAll('\n', '\r')],
    ['a mark of the byte order', `\uFEFF${good}`],
    ['comments, ids and retry times', good.replaceAll(/^(event|data)/gm, ': x\nid: 1\nretry: 5\n$1')],
    ['no names of events', good.replaceAll(/^event: .*\n/gm, '')],
    ['no blank after the colons', good.replaceAll(/^(event|data): /gm, '$1:')],
    ['no blank line at its end', good.slice(0, -2)],
    ['two ends', good + wire.end()],
    ['more data after its end', good + wire.text('late') + wire.start('gen-late')],
  ])('that writes %s is heard as any other', async (_name, stream) => {
    await expectAnswer(plays(stream));
  });

  it.each<[string, string | Buffer, string, Record<string, string>, string]>([
    ['a stream as JSON', good, 'application/json', {}, shown],
    ['JSON as a stream', wire.json('Hi'), 'text/event-stream', {}, 'Hi'],
    ['what it compressed', gzipSync(good), 'text/event-stream', { 'content-encoding': 'gzip' }, shown],
    [
      'JSON that it compressed',
      gzipSync(wire.json('Hi')),
      'application/json',
      { 'content-encoding': 'gzip' },
      'Hi',
    ],
  ])('that answers %s is heard as any other', async (_name, bytes, type, headers, text) => {
    await expectAnswer(plays(bytes, type, headers), text);
  });

  it('whose type of content is in capitals is heard as any other', async () => {
    await expectAnswer(plays(good, 'Text/Event-Stream; charset=UTF-8'));
  });

  it.each<[string, string | Buffer, string, Record<string, string>]>([
    ['HTML', '<html><body>Welcome</body></html>', 'text/html', {}],
    ['HTML as a stream', '<html><body>Welcome</body></html>', 'text/event-stream', {}],
    ['HTML as JSON', '<html>', 'application/json', {}],
    ['nothing', '', 'text/event-stream', {}],
    ['nothing as JSON', '', 'application/json', {}],
    ['comments alone', ': hello\n\n: hello\n\n', 'text/event-stream', {}],
    [
      'an end alone',
      askedIn(asked.kind, asked.format) === 'messages' ? namedEvent('message_stop', {}) : 'data: [DONE]\n\n',
      'text/event-stream',
      {},
    ],
    ['what it says to be compressed', good, 'text/event-stream', { 'content-encoding': 'gzip' }],
    [
      'half of what it compressed',
      gzipSync(good).subarray(0, 40),
      'text/event-stream',
      { 'content-encoding': 'gzip' },
    ],
    [
      'what it compressed in a way of its own',
      gzipSync(good),
      'text/event-stream',
      { 'content-encoding': 'own' },
    ],
    [
      'JSON 100,000 levels deep',
      `{"choices":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      'application/json',
      {},
    ],
    ['8 MB of open brackets', '['.repeat(8 << 20), 'application/json', {}],
    ['a number beyond all numbers', 'data: {"usage":{"cost":NaN}}\n\n', 'text/event-stream', {}],
  ])('that answers %s is a provider_error, at no cost', async (_name, bytes, type, headers) => {
    const { status, code } = await hear(asked, plays(bytes, type, headers));
    expect({ status, code }).toEqual({ status: 502, code: 'provider_error' });
  });

  it.each([
    [
      'an event 100,000 levels deep',
      `data: {"choices":[{"index":0,"delta":{"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}}]}\n\n`,
    ],
    ['a text that is said to be an event', 'data: {hello}\n\n'],
    ['half of its events', good.slice(0, good.length / 2)],
  ])('that answers %s is a provider_error, wherever that can be said', async (_name, bytes) => {
    // Chunks of a chat pass by their first and last byte.
    if (asked.stream && asked.format === 'chat' && !isTranslated(asked) && bytes.includes('{hello}')) return;
    const { status, code, chargedNanoUsd } = await hear(asked, plays(bytes));
    expect(code).toBe('provider_error');
    // A chunk that passed unread has begun the answer, and no text of it is charged.
    const passed = asked.stream && asked.format === 'chat' && !isTranslated(asked);
    expect(status).toBe(
      (asked.stream && chargedNanoUsd > 0n) || (passed && bytes.includes('[[[')) ? 200 : 502,
    );
  });

  it('that never ends a line of its stream is left after a megabyte', async () => {
    let poured = 0;
    const { status, code } = await hear(asked, async (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write('data: {"x":"');
      poured = await pour(res, Buffer.alloc(64 * 1024, 0x61), 100 * 1024 * 1024);
    });
    expect({ status, code }).toEqual({ status: 502, code: 'provider_error' });
    expect(poured).toBeLessThan(SSE_EVENT_BYTES + SOCKETS_BYTES);
  });

  it('that never ends an event of its stream is left after a megabyte', async () => {
    let poured = 0;
    const { status, code } = await hear(asked, async (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      poured = await pour(res, Buffer.from('data: hello\n'.repeat(5_000)), 100 * 1024 * 1024);
    });
    expect({ status, code }).toEqual({ status: 502, code: 'provider_error' });
    expect(poured).toBeLessThan(SSE_EVENT_BYTES + SOCKETS_BYTES);
  });

  it('that answers 100 MB of JSON is left after 32', async () => {
    let poured = 0;
    const { status, code } = await hear(asked, async (res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.write('{"x":"');
      poured = await pour(res, Buffer.alloc(1024 * 1024, 0x61), 100 * 1024 * 1024);
    });
    expect({ status, code }).toEqual({ status: 502, code: 'provider_error' });
    expect(poured).toBeLessThan(JSON_ANSWER_BYTES + SOCKETS_BYTES);
  });

  const call = (json: string, index = 0) => wire.toolCall(index, 'call_1', 'look_up', json);

  it.each([
    ['no JSON', '{"city": Paris'],
    ['a list', '[1]'],
    ['null', 'null'],
    ['a text', '"Paris"'],
    ['a number', '1e999'],
    ['100,000 levels deep', '['.repeat(100_000)],
    ['100,000 closed levels deep', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['lines and events of their own', '\n\ndata: {"type":"error"}\n\nevent: error\n\n'],
  ])('whose model calls a tool with arguments that are %s is passed on', async (_name, json) => {
    const stream = wire.start() + call(json) + wire.end();
    const { status, code, text } = await hear(asked, plays(stream));
    expect({ status, code }).toEqual({ status: 200, code: null });
    if (isTranslated(asked) && asked.format === 'messages' && !asked.stream) {
      const { input } = JSON.parse(text).content[0];
      // The word says that there are none.
      expect(input).toEqual(json === 'null' ? {} : { arguments: json });
    }
  });

  it.each([
    ['jump', [7, 3, 2_000_000_000]],
    ['are negative', [-1, -5]],
    ['are none', [1.5, Number.MAX_SAFE_INTEGER]],
  ])('whose indexes %s is passed on', async (_name, indexes) => {
    const calls = indexes.map((index, i) => wire.toolCall(index, `call_${i}`, `f_${i}`, '{"a":1}')).join('');
    const { status, code, text } = await hear(asked, plays(wire.start() + calls + wire.end()));
    expect({ status, code }).toEqual({ status: 200, code: null });
    if (isWholeAnswer) return;
    for (const i of indexes.keys()) expect(text.split(`"f_${i}"`).length - 1).toBeGreaterThanOrEqual(1);
    expect(text.length).toBeLessThan(20_000);
  });

  it('whose ids change, that opens its answer twice, or speaks before it opens it, is passed on', async () => {
    const odd = [
      wire.text('early '),
      wire.start('gen-a'),
      wire.textStart,
      wire.text('one '),
      wire.toolCall(0, 'call_a', 'f', '{"a":'),
      wire.start('gen-b'),
      wire.toolCall(0, 'call_b', 'f', '1}'),
      wire.text('two'),
      wire.end(),
    ];
    const { status, code, text, headers } = await hear(asked, plays(odd.join('')));
    expect({ status, code }).toEqual({ status: 200, code: null });
    expect(headers.get('x-generation-id') ?? 'gen-a').toMatch(/^(gen-a|gen-chat-1|resp_1)$/);
    if (isTranslated(asked)) expectOneAnswer(text, asked);
  });

  it('whose bytes are no UTF-8 leaves whole events', async () => {
    const broken = Buffer.from(good.replace('🚇', '\u0001'));
    const bytes = Buffer.from(broken.map((byte) => (byte === 1 ? 0xff : byte)));
    const { status, code } = await hear(asked, plays(bytes));
    expect([status, code]).toEqual([200, null]);
  });

  it('whose names would be lines or keys of ours changes nothing but its own words', async () => {
    const evil = 'x\r\n\r\ndata: {"error":{"code":"free"}}\n\nevent: error';
    const stream =
      wire.start(evil) +
      wire.textStart +
      wire.text('__proto__') +
      wire.toolCall(0, evil, evil, '{"__proto__":{"x":1},"constructor":1}') +
      wire.end().replaceAll(/"(end_turn|stop|completed)"/g, '"constructor"');
    const { status, code, headers, text } = await hear(
      asked,
      plays(stream, 'text/event-stream', {
        'x-generation-id': 'gen x',
      }),
    );
    expect({ status, code }).toEqual({ status: 200, code: null });
    expect(headers.get('x-generation-id') ?? '').toMatch(/^[\x21-\x7e ]*$/);
    expect(headers.get('x-generation-id') ?? '').not.toContain('data:');
    expect(({} as Record<string, unknown>).x).toBeUndefined();
    if (asked.format === 'chat' && isTranslated(asked)) expect(text).toMatch(/"finish_reason":"\w+"/);
  });
});

/** Room for what the sockets between hold: none of it is the gateway's memory. */
const SOCKETS_BYTES = 16 * 1024 * 1024;

/** It begins once and before all else, under one id. */
function expectOneAnswer(text: string, { format, stream }: Asked): void {
  if (!stream) return;
  const events = text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)));
  switch (format) {
    case 'chat':
      expect(new Set(events.map(({ id }) => id)).size).toBe(1);
      expect(events.filter(({ choices }) => choices[0]?.delta.role === 'assistant')).toEqual([events[0]]);
      return;
    case 'responses':
      expect(events.filter(({ type }) => type === 'response.created')).toEqual([events[0]]);
      expect(events.at(-1).response.id).toBe(events[0].response.id);
      return;
    case 'messages':
      expect(events.filter(({ type }) => type === 'message_start')).toEqual([events[0]]);
  }
}
