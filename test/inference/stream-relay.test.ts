import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { ANSWER_DEPTH_MAX, GATE_BUFFER_BYTES } from '#core/limits.ts';
import type { StreamReader } from '../../api/inference/formats/call-format.ts';
import { chatFormat } from '../../api/inference/formats/chat-format.ts';
import { ChatUsage } from '../../api/inference/formats/chat-usage.ts';
import { messagesFormat } from '../../api/inference/formats/messages-format.ts';
import { AnswerText, addChat } from '../../api/inference/price/answer-text.ts';
import { chatCounts, noTokens, readUsage } from '../../api/inference/price/usage.ts';
import { SSE_EVENT_BYTES, type StreamEnd, StreamRelay } from '../../api/inference/upstream/stream-relay.ts';
import { fakeCaller, fakeUpstream } from './fake-ends.ts';

const UPSTREAM_MODEL = 'vendor/small-2026';

function startRelay(
  options: { gateOpen?: boolean; publicModel?: string; requestBytes?: number } = {},
  { other, scrub }: { other?: StreamReader; scrub?: (events: Buffer) => Buffer } = {},
) {
  const ends = { ...fakeCaller(options), ...fakeUpstream() };
  const publicModel = options.publicModel ?? UPSTREAM_MODEL;
  const reader =
    other ?? chatFormat.openStream({ upstreamModel: UPSTREAM_MODEL, publicModel, showUsage: true });
  ends.upstream.onRequestStart(ends.controller);
  const firsts: string[] = [];
  const relay = new StreamRelay({
    clock: ends.clock,
    ...(scrub === undefined ? {} : { scrub }),
    upstream: ends.upstream,
    caller: ends.caller,
    firstEvent: (event) => void firsts.push(event.toString()),
    head: () => ({ 'content-type': 'text/event-stream' }),
    reader,
    requestBytes: options.requestBytes ?? 0,
    textBytesMax: Number.POSITIVE_INFINITY,
  });
  return { ...ends, relay, reader, firsts };
}

/** All at once, then a clean end. */
async function relayed(text: string | Buffer, options: { publicModel?: string; requestBytes?: number } = {}) {
  const ends = startRelay(options);
  ends.relay.data(Buffer.from(text));
  ends.relay.end();
  ends.relay.flush();
  const end = await ends.relay.ended;
  return { ...ends, end, text: ends.res.text };
}

const content = (text: string) =>
  `{"id":"gen-1","choices":[{"index":0,"delta":{"content":${JSON.stringify(text)}}}]}`;
const USAGE = '{"prompt_tokens":3,"completion_tokens":2,"cost":0.5}';
const usageChunk = `{"id":"gen-1","choices":[],"usage":${USAGE}}`;
const usageIn = (usage: string) => readUsage(Buffer.from(usage), chatCounts)?.usage ?? null;
const DONE = 'data: [DONE]\n\n';
const event = (data: string) => `data: ${data}\n\n`;

it('the first chunk of a server that names no provider gets a name, however the chunks are cut', async () => {
  const provider = { id: 'p', apiKey: 'k-q7w8e9', baseUrl: 'http://p.internal/v1' };
  const model = { upstreamModel: UPSTREAM_MODEL, publicModel: UPSTREAM_MODEL };
  const hidden = { provider, ...model };
  const sent =
    ['a', 'bc', '', '{"provider":1}'].map((text) => event(content(text))).join('') + event(usageChunk) + DONE;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 12 }),
      async (sizes) => {
        const reader = chatFormat.openStream({ ...model, showUsage: true, hidden });
        const { relay, res } = startRelay({}, { other: reader });
        for (let at = 0, piece = 0; at < sent.length; piece++) {
          const size = sizes[piece % sizes.length] ?? 1;
          relay.data(Buffer.from(sent.slice(at, at + size)));
          relay.flush();
          at += size;
        }
        expect(await relay.ended).toEqual({ kind: 'complete' });
        const named = sent
          .slice(0, sent.indexOf(event(usageChunk)))
          .replace('data: {', 'data: {"provider":"faregate",');
        expect(res.text).toBe(named);
        expect(
          reader
            .end({ identity: { id: 'x', createdAtS: 1, nowS: 2, model: 'm' }, shown: null, tokens: noTokens })
            .toString(),
        ).toContain('"provider":"faregate"');
      },
    ),
    { numRuns: 60 },
  );
});

/** One thing that a provider may send, and what of it a caller may see. */
interface Item {
  sent: string;
  shown: string | null;
  usage: string | null;
}

const nothing = fc.constantFrom(
  ': OPENROUTER PROCESSING',
  ':',
  ': "usage":{"cost":99}',
  'event: ping',
  'id: 7',
  'retry: 10',
  'event: ping\nid: 7',
  'data:',
  'data: ',
  'data: \t ',
  'data: null',
  'nonsense',
);

const words = fc.constantFrom(
  '"usage":{"cost":1}',
  '{"error":{"code":500}}',
  '[DONE]',
  'data: x',
  '\n\ndata: y',
  '\r\n',
  ':',
);
const anyText = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 12 }), words);
const model = fc.constantFrom(
  '',
  `"model":"${UPSTREAM_MODEL}",`,
  `"model": "${UPSTREAM_MODEL}",`,
  '"model":"other",',
);

const anyChoices = fc.oneof(
  anyText.map((text) => `[{"index":0,"delta":{"content":${JSON.stringify(text)}}}]`),
  anyText.map(
    (text) =>
      `[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":${JSON.stringify(text)}}}]}}]`,
  ),
  fc.constantFrom('[{"index":0,"delta":{},"finish_reason":"stop"}]', '[{"delta":{"error":{"b":2}}}]'),
);

const usages = fc.constantFrom(USAGE, '{"prompt_tokens":1}', '{}', '5', '{ "cost" : 1e-7 }');

const anyEvent: fc.Arbitrary<Item> = fc.oneof(
  { weight: 4, arbitrary: chunk(fc.constant(null)) },
  { weight: 1, arbitrary: chunk(fc.constant('null')) },
  { weight: 1, arbitrary: chunk(usages) },
  {
    weight: 1,
    arbitrary: fc.tuple(usages, fc.constantFrom('[]', '[ ]')).map(([usage, empty]) => ({
      sent: `data: {"choices":${empty},"usage":${usage}}`,
      shown: null,
      usage,
    })),
  },
  { weight: 2, arbitrary: nothing.map((sent) => ({ sent, shown: null, usage: null })) },
);

/** Usage in the middle of an answer, as some servers send it with every chunk, is not its end. */
const endsAnswer = (last: Item | undefined): boolean =>
  last !== undefined && (last.shown === null || last.shown.includes('"finish_reason":"stop"'));

function chunk(usage: fc.Arbitrary<string | null>): fc.Arbitrary<Item> {
  const framing = fc.constantFrom(
    'data:',
    'data: ',
    'data:  ',
    ': hi\ndata: ',
    'event: message\ndata: ',
    'id: 1\ndata:',
  );
  const tail = fc.constantFrom('', ' ', '\nid: 2', '\nretry: 5');
  return fc.tuple(model, anyChoices, usage, framing, tail).map(([name, choices, counted, before, after]) => {
    const member = counted === null ? '' : `,"usage":${counted}`;
    const json = (extra: string) => `{"id":"gen-1",${name}"choices":${choices}${extra}}`;
    return {
      sent: `${before}${json(member)}${after}`,
      // A record that is null says nothing, and some clients have no room for it.
      shown: json(''),
      usage: counted === 'null' ? null : counted,
    };
  });
}

const isMarked = fc.constantFrom(
  'marked',
  'marked, more follows',
  'closed',
  'closed without a last line end',
);
type Ending = 'marked' | 'marked, more follows' | 'closed' | 'closed without a last line end';

const anyStream = fc.record({
  items: fc.array(anyEvent, { maxLength: 8 }),
  ending: isMarked,
  lineEnd: fc.constantFrom('\n', '\r\n'),
  cuts: fc.oneof(
    fc.constant<'every byte'>('every byte'),
    fc.array(fc.nat({ max: 2_000 }), { maxLength: 12 }),
  ),
  joined: fc.boolean(),
});

function bytesOf(items: readonly Item[], ending: Ending, lineEnd: string): Buffer {
  const whole = items.map(({ sent }) => `${sent}\n\n`).join('');
  const ends: Record<Ending, string> = {
    marked: `${whole}${DONE}`,
    'marked, more follows': `${whole}${DONE}${event(content('too late'))}${event(`{"usage":${USAGE}}`)}data: {`,
    closed: whole,
    'closed without a last line end': whole.trimEnd(),
  };
  return Buffer.from(ends[ending].replaceAll('\n', lineEnd));
}

function cut(bytes: Buffer, cuts: 'every byte' | readonly number[]): Buffer[] {
  const at = cuts === 'every byte' ? [...bytes.keys()] : cuts.map((place) => place % (bytes.length + 1));
  const places = [0, ...at.sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((place, i) => Buffer.from(bytes.subarray(places[i], place)));
}

/** The records of a stream, where text that follows a record makes it one that is not final. */
function countedIn(items: readonly Item[]): ChatUsage {
  const expected = new ChatUsage();
  const text = new AnswerText();
  let countedBytes = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const chunk = item.shown === null ? {} : JSON.parse(item.shown);
    if (item.usage !== null) {
      if (text.bytes > countedBytes) expected.textFollows();
      const own = new AnswerText();
      addChat(own, chunk);
      countedBytes = text.bytes + own.bytes;
      expected.add([Buffer.from(item.usage)], { isLast: endsAnswer(item), hasText: own.bytes > 0 });
    }
    addChat(text, chunk);
  }
  if (text.bytes > countedBytes) expected.textFollows();
  return expected;
}

/** The data of every event that the caller got, and proof that there was nothing else. */
function shownTo(text: string): string[] {
  expect(text).not.toContain('\r');
  expect(text === '' || text.endsWith('\n\n')).toBe(true);
  return text
    .split('\n\n')
    .slice(0, -1)
    .map((line) => {
      expect(line).toMatch(/^data:[^\n]*$/);
      return line.slice(5).trim();
    });
}

describe('a stream', () => {
  it('reaches the caller whole, in order and nothing else of it, however it was cut into pieces', async () => {
    await fc.assert(
      fc.asyncProperty(anyStream, async ({ items, ending, lineEnd, cuts, joined }) => {
        const { relay, reader, res, firsts } = startRelay();
        for (const piece of cut(bytesOf(items, ending, lineEnd), cuts)) {
          relay.data(piece);
          if (!joined) relay.flush();
        }
        relay.end();
        relay.flush();
        const expected = countedIn(items);
        const { records } = expected;
        const isComplete = expected.isComplete();
        // A record behind the end mark counts only where none before it told everything.
        if (ending === 'marked, more follows' && !records.isWhole) records.addFinal(Buffer.from(USAGE));
        const isMarkedEnd = ending.startsWith('marked');
        const expectedEnd: StreamEnd =
          isMarkedEnd || isComplete ? { kind: 'complete' } : { kind: 'failed', cause: 'cut' };
        expect(await relay.ended).toEqual(expectedEnd);
        const shown = items.flatMap((item) => item.shown ?? []);
        expect(shownTo(res.text)).toEqual(shown);
        expect(firsts).toHaveLength(shown.length === 0 ? 0 : 1);
        expect(reader.isComplete()).toBe(isComplete);
        expect(reader.usage(0)).toEqual(expected.usage(0));
        const text = new AnswerText();
        for (const data of shown) addChat(text, JSON.parse(data));
        expect(relay.deliveredBytes).toBe(text.bytes);
      }),
      { numRuns: 400 },
    );
  });

  it('keeps letters whole that were cut in two', async () => {
    const text = 'Grüße aus der 東京 🚇';
    const bytes = Buffer.from(event(content(text)) + DONE);
    for (let at = 1; at < bytes.length; at++) {
      const { relay, res } = startRelay();
      relay.data(bytes.subarray(0, at));
      relay.flush();
      relay.data(bytes.subarray(at));
      relay.end();
      relay.flush();
      await relay.ended;
      expect(JSON.parse(shownTo(res.text)[0] ?? '').choices[0].delta.content).toBe(text);
    }
  });

  it('is shown under the name that the caller used', async () => {
    const chunkOf = (member: string) => `{"id":"x",${member}"choices":[]}`;
    const sent = [
      chunkOf(`"model":"${UPSTREAM_MODEL}",`),
      chunkOf(`"model": "${UPSTREAM_MODEL}",`),
      chunkOf('"model":"another",'),
      content(`"model":"${UPSTREAM_MODEL}"`),
    ];
    const { text } = await relayed(sent.map(event).join('') + DONE, { publicModel: 'acme/sm"all' });
    expect(shownTo(text)).toEqual([
      chunkOf('"model":"acme/sm\\"all",'),
      chunkOf('"model":"acme/sm\\"all",'),
      sent[2],
      sent[3],
    ]);
  });

  it('is not summed where usage comes more than once: the last counts', async () => {
    const growing = [1, 2, 3].map(
      (n) => `{"choices":[{"delta":{}}],"usage":{"prompt_tokens":${n},"completion_tokens":1}}`,
    );
    const { reader, text } = await relayed(growing.map(event).join('') + DONE);
    expect(reader.usage(0)).toMatchObject({ tokens: { prompt: 3, completion: 1 } });
    expect(text).not.toContain('prompt_tokens');
  });
});

describe('a stream that goes wrong', () => {
  const good = event(content('a'));

  it.each<[string, string]>([
    ['an error', '{"error":{"code":500,"message":"x"}}'],
    [
      'an error beside a choice',
      '{"id":"x","choices":[{"delta":{"content":""},"finish_reason":"error"}],"error":{"code":502}}',
    ],
    ['an error inside a choice', '{"choices":[{"index":0,"error":{"code":502}}]}'],
    ['a choice that ends in error', '{"choices":[{"delta":{},"finish_reason":"error"}]}'],
    [
      'an error in the place of the chunk',
      '{"object":"error","message":"x","type":"BadRequestError","code":400}',
    ],
    ['an error in the messages format', '{"type":"error","error":{"type":"overloaded_error","message":"x"}}'],
  ])('ends where the provider says so: %s', async (_what, json) => {
    const { end, text } = await relayed(
      `${good}event: error\ndata: ${json}\n\n${event(content('b'))}${DONE}`,
    );
    expect(end).toEqual({ kind: 'error', event: Buffer.from(json) });
    expect(text).toBe(good);
  });

  it.each([
    '[{"error":{"code":503}}]',
    '{"object":"error","code":400,"message":"x"}',
    '{"type":"server_error","message":"x"}',
    '{"error":"x"}',
  ])('ends at an error of any shape: %s', async (data) => {
    const { end, text } = await relayed(good + event(data) + good + DONE);
    expect(end).toEqual({ kind: 'error', event: Buffer.from(data) });
    expect(text).toBe(good);
  });

  it('ends at an event that is named an error, whatever stands in it', async () => {
    const { end, text } = await relayed(`${good}event: error\ndata: {"detail":"x"}\n\n${good}${DONE}`);
    expect(end).toEqual({ kind: 'error', event: Buffer.from('{"detail":"x"}') });
    expect(text).toBe(good);
  });

  it('keeps the usage that an error brings along, and the one before it', async () => {
    const withUsage = await relayed(event(`{"error":{"code":502},"usage":${USAGE}}`));
    expect(withUsage.reader.usage(0)).toEqual(usageIn(USAGE));
    const before = await relayed(event(usageChunk) + event('{"error":{"code":502}}'));
    expect(before.end.kind).toBe('error');
    expect(before.reader.usage(0)).toEqual(usageIn(USAGE));
  });

  it.each([
    'hello',
    '<html>',
    '{"choices":',
    '"text"',
    '5',
    '[1]',
    '[DONE',
    '[{"error":5}]',

    '{"usage":{"prompt_tokens":}}',
    `{"usage":${'['.repeat(ANSWER_DEPTH_MAX)}${']'.repeat(ANSWER_DEPTH_MAX)}}`,
  ])('ends at an event that is none, after what came before: %s', async (data) => {
    const { end, text } = await relayed(good + event(data) + good + DONE);
    expect(end).toEqual({ kind: 'malformed' });
    expect(text).toBe(good);
  });

  it('shows no part of an event that was cut, even where the part looks whole', async () => {
    for (let at = 1; at < content('abc').length; at++) {
      const { end, text } = await relayed(good + event(content('abc')).slice(0, 'data: '.length + at));
      expect(text).toBe(good);
      expect(end).toEqual({ kind: 'failed', cause: 'cut' });
    }
  });

  it('that closes after its usage is complete, without a mark', async () => {
    expect((await relayed(good + event(usageChunk))).end).toEqual({ kind: 'complete' });
    expect((await relayed(good)).end).toEqual({ kind: 'failed', cause: 'cut' });
    expect((await relayed('')).end).toEqual({ kind: 'failed', cause: 'cut' });
    expect((await relayed(': hi\n\n')).end).toEqual({ kind: 'failed', cause: 'cut' });
  });

  it('shows all that had come when the connection broke', async () => {
    const { relay, res } = startRelay();
    relay.data(Buffer.from(good));
    relay.fail('cut');
    relay.flush();
    expect(await relay.ended).toEqual({ kind: 'failed', cause: 'cut' });
    expect(res.text).toBe(good);
  });

  it('takes no event of more than a megabyte, whether it comes at once or bit by bit', async () => {
    const fits = event(content('x'.repeat(SSE_EVENT_BYTES - 200)));
    expect((await relayed(fits + DONE)).end).toEqual({ kind: 'complete' });
    const large = event(content('x'.repeat(SSE_EVENT_BYTES + good.length)));
    const atOnce = await relayed(good + large + DONE);
    expect([atOnce.end, atOnce.text]).toEqual([{ kind: 'too_long' }, good]);
    const { relay, res } = startRelay();
    for (let at = 0; at < large.length; at += 65_536) {
      relay.data(Buffer.from(large.slice(at, at + 65_536)));
      relay.flush();
    }
    expect(await relay.ended).toEqual({ kind: 'malformed' });
    expect(res.text).toBe('');
  });

  it('takes events that repeat the request or all that came before, and none that is longer', async () => {
    const requestBytes = 100_000;
    const repeats = event(content('x'.repeat(SSE_EVENT_BYTES + requestBytes)));
    expect((await relayed(repeats + DONE)).end).toEqual({ kind: 'malformed' });
    expect((await relayed(repeats + DONE, { requestBytes })).end).toEqual({ kind: 'complete' });
    const longest = event(content('x'.repeat(SSE_EVENT_BYTES - 200)));
    const both = event(content('x'.repeat(2 * SSE_EVENT_BYTES - 1_000)));
    expect((await relayed(longest + both + DONE)).end).toEqual({ kind: 'complete' });
    const more = event(content('x'.repeat(2 * SSE_EVENT_BYTES)));
    expect((await relayed(longest + more + DONE)).end).toEqual({ kind: 'too_long' });
  });

  // What takes a second takes minutes where each piece looks at all before it.
  it('reads a long event that comes in small pieces with its last piece, not anew with each', async () => {
    const { relay, res } = startRelay({ requestBytes: 8 * SSE_EVENT_BYTES });
    const long = Buffer.from(event(content('x'.repeat(16 * SSE_EVENT_BYTES))));
    const PIECE_BYTES = 512;
    for (let at = 0; at < long.length; at += PIECE_BYTES) {
      relay.data(long.subarray(at, at + PIECE_BYTES));
      await turn();
    }
    relay.data(Buffer.from(DONE));
    relay.end();
    relay.flush();
    expect(await relay.ended).toEqual({ kind: 'complete' });
    expect(res.text.length).toBe(long.length);
  });

  it.each([
    ['empty lines of data', `data:${' '.repeat(50)}\n`],
    ['comments', `: ${'a'.repeat(50)}\n`],
  ])('of %s without a blank line is searched once, in however many pieces it comes', async (_name, line) => {
    const copied = vi.spyOn(Buffer, 'concat');
    const searched = vi.spyOn(Buffer.prototype, 'indexOf');
    const { relay, res } = startRelay();
    const pieces = 10_000;
    for (let piece = 0; piece < pieces; piece++) {
      relay.data(Buffer.from(line));
      relay.flush();
    }
    relay.data(Buffer.from(`\n${event(content('a'))}${DONE}`));
    relay.end();
    relay.flush();
    await relay.ended;
    const copiedBytes = copied.mock.results.reduce((sum, { value }) => sum + Number(value.length), 0);
    const searchedBytes = searched.mock.contexts.reduce((sum, bytes) => sum + bytes.length, 0);
    vi.restoreAllMocks();
    expect(res.text).toContain('"a"');
    expect(copiedBytes).toBeLessThan(5 * pieces * line.length);
    expect(searchedBytes).toBeLessThan(20 * pieces * line.length);
  });

  it('that never ends a line is given up at a megabyte', async () => {
    const { relay } = startRelay();
    for (let sent = 0; sent <= SSE_EVENT_BYTES; sent += 65_536) {
      relay.data(Buffer.alloc(65_536, ': '));
      relay.flush();
    }
    expect(await relay.ended).toEqual({ kind: 'malformed' });
  });

  it('in whose reading there is a fault of ours ends its own call, and not the process', async () => {
    const { relay, reader, controller, res } = startRelay();
    relay.data(Buffer.from(event(content('a'))));
    reader.read = () => {
      throw new Error('a fault');
    };
    relay.data(Buffer.from(event(usageChunk)));
    await expect(relay.ended).rejects.toThrow('a fault');
    expect(controller.aborted).toBe(true);
    relay.data(Buffer.from(event(content('b'))));
    relay.flush();
    expect(res.text).toBe(event(content('a')));
  });

  it('answers nothing more once it has ended', async () => {
    const { relay, res } = await relayed(good + DONE);
    relay.data(Buffer.from(good));
    relay.flush();
    relay.fail('cut');
    expect(res.text).toBe(good);
    expect(await relay.ended).toEqual({ kind: 'complete' });
  });
});

describe('a caller who reads slowly', () => {
  it('stops the provider, and starts it again', () => {
    const { relay, res, caller, controller, heard } = startRelay();
    relay.data(Buffer.from(event(content('a'))));
    relay.flush();
    expect(controller.asked).toEqual([]);
    res.flowing = false;
    relay.data(Buffer.from(event(content('b'))));
    relay.flush();
    expect(controller.asked).toEqual(['pause']);
    expect(caller.blockedSinceMs).toBe(1_000);
    res.flowing = true;
    res.emit('drain');
    expect(heard).toEqual(['begins', 'resumed']);
    expect(caller.blockedSinceMs).toBeNull();
  });

  it('who has gone stops nothing: the answer is read on for its usage', async () => {
    const { relay, reader, res, controller } = startRelay();
    res.flowing = false;
    relay.data(Buffer.from(event(content('a'))));
    relay.flush();
    res.hangUp();
    controller.asked.length = 0;
    relay.data(Buffer.from(event(content('b')) + event(usageChunk) + DONE));
    relay.flush();
    expect(await relay.ended).toEqual({ kind: 'complete' });
    expect(controller.asked).toEqual([]);
    expect(reader.usage(0)).toEqual(usageIn(USAGE));
    expect(res.text).toBe(event(content('a')));
  });
});

describe('while the hold is not in the journal', () => {
  it('nothing goes out, not even the status, and little is kept', () => {
    const { relay, res, controller } = startRelay({ gateOpen: false });
    const some = event(content('x'.repeat(1_000)));
    let sent = 0;
    while (!controller.paused && sent < 3 * GATE_BUFFER_BYTES) {
      relay.data(Buffer.from(some));
      relay.flush();
      sent += some.length;
    }
    expect(sent).toBeGreaterThanOrEqual(GATE_BUFFER_BYTES);
    expect(sent).toBeLessThan(GATE_BUFFER_BYTES + 2 * some.length);
    expect([res.status, res.text]).toEqual([null, '']);
  });

  it('the end waits too, and then all comes in order', async () => {
    const { relay, res, caller, heard } = startRelay({ gateOpen: false });
    relay.data(Buffer.from(event(content('a')) + event(content('b')) + event(usageChunk) + DONE));
    relay.flush();
    expect(await relay.ended).toEqual({ kind: 'complete' });
    expect(res.status).toBeNull();
    caller.openGate();
    expect(res.text).toBe(event(content('a')) + event(content('b')));
    expect(heard).toEqual(['begins', 'resumed']);
  });
});

it('passes the first event on at once, and joins what follows in the same turn', () => {
  const { relay, res } = startRelay();
  relay.data(Buffer.from(event(content('a'))));
  expect(res.text).toBe(event(content('a')));
  relay.data(Buffer.from(event(content('b'))));
  relay.data(Buffer.from(event(content('c'))));
  expect(res.chunks).toHaveLength(1);
  relay.flush();
  expect(res.chunks).toHaveLength(2);
  expect(res.text).toBe(['a', 'b', 'c'].map((text) => event(content(text))).join(''));
});

it('looks at a first event that comes in pieces once a turn, not once a piece', () => {
  const { relay, res } = startRelay();
  const [first, ...rest] = event(content('a'));
  relay.data(Buffer.from(first ?? ''));
  for (const piece of rest) relay.data(Buffer.from(piece));
  expect(res.text).toBe('');
  relay.flush();
  expect(res.text).toBe(event(content('a')));
});

describe('a stream that is kept', () => {
  /** In how many events its text comes is the provider's affair. */
  async function kept(texts: string[], textBytesMax: number, mark = event(usageChunk) + DONE) {
    const { clock, caller, upstream, controller } = { ...fakeCaller(), ...fakeUpstream() };
    const relay = new StreamRelay({
      clock,
      upstream,
      caller,
      reader: chatFormat.openAssembly(),
      requestBytes: 0,
      textBytesMax,
      firstEvent: () => undefined,
      head: () => ({}),
    });
    upstream.onRequestStart(controller);
    upstream.pipeTo(relay);
    for (const text of texts) upstream.onResponseData(controller, Buffer.from(event(content(text))));
    upstream.onResponseData(controller, Buffer.from(mark));
    relay.flush();
    return { end: await relay.ended, relay };
  }

  it('may have any number of frames, and so much text', async () => {
    expect((await kept(Array(1_000).fill('word '), 10_000)).end).toEqual({ kind: 'complete' });
    const { end } = await kept(Array(10).fill('x'.repeat(2_000)), 10_000, event(content('and more')));
    expect(end).toEqual({ kind: 'too_long' });
  });

  it('is estimated as one that passes is', async () => {
    const { relay } = await kept(['', ...Array(9).fill('word ')], 10_000);
    expect(relay.deliveredBytes).toBe(45);
  });
});

it('a stream without usage is estimated by its text alone, in however many events it comes', () => {
  const framed = (text: string) => event(content(text));
  const bytesOfEvents = (texts: string[]) => {
    const { relay } = startRelay();
    for (const text of texts) relay.data(Buffer.from(framed(text)));
    relay.flush();
    return relay.deliveredBytes;
  };
  // All of it in one event.
  expect(bytesOfEvents(['x'.repeat(20_000)])).toBe(20_000);
  expect(bytesOfEvents(['', ...Array.from({ length: 9 }, () => 'word ')])).toBe(45);
  // All of them alike.
  expect(bytesOfEvents(Array.from({ length: 1_000 }, () => 'same'))).toBe(4_000);
  expect(bytesOfEvents([])).toBe(0);
});

describe('events that come in one packet or in several', () => {
  const named = (data: { type: string } & Record<string, unknown>): string =>
    `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
  const text = (words: string) =>
    named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: words } });
  const events = [
    named({ type: 'message_start', message: { id: 'm', model: UPSTREAM_MODEL, usage: { input_tokens: 1 } } }),
    text('one'),
    named({ type: 'message_delta', delta: { stop_reason: null }, usage: { output_tokens: 1 } }),
    text('two'),
    named({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }),
    named({ type: 'message_stop' }),
  ];

  async function shown(packets: readonly string[]): Promise<string> {
    const names = { upstreamModel: UPSTREAM_MODEL, publicModel: UPSTREAM_MODEL, showUsage: true };
    const { relay, res } = startRelay({}, { other: messagesFormat.openStream(names) });
    for (const packet of packets) {
      relay.data(Buffer.from(packet));
      relay.flush();
    }
    relay.end();
    relay.flush();
    await relay.ended;
    return res.text;
  }

  it('reach the caller in the same order', async () => {
    expect(await shown([events.join('')])).toBe(await shown(events));
  });
});

describe('an event with a member that is named for an error', () => {
  const withMember = (name: string) =>
    event(`{"id":"gen-1","choices":[{"index":0,"delta":{"content":"x"}}],"${name}":"http://10.0.0.1:8000"}`);

  function shownOf(sent: string): string {
    const { relay, res } = startRelay(
      {},
      { scrub: (events) => Buffer.from(`${events}`.replace('10.0.0.1', '')) },
    );
    relay.data(Buffer.from(event(content('Hello'))));
    relay.flush();
    relay.data(Buffer.from(sent));
    relay.flush();
    return res.text;
  }

  it.each(['error', 'errors', 'Error', 'lastError', 'last_error', 'error_message', 'errorDetails'])(
    'is scrubbed on its way, also where it is named %s',
    (name) => {
      expect(shownOf(withMember(name))).not.toContain('10.0.0.1');
    },
  );

  it('is another one than an event whose text speaks of errors, which passes as it came', () => {
    const sent = event(content('An error at 10.0.0.1: see the "errors"'));
    expect(shownOf(sent)).toContain(sent);
  });
});
