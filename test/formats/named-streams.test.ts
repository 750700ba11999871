import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallFormat } from '../../api/inference/formats/call-format.ts';
import { messagesFormat } from '../../api/inference/formats/messages-format.ts';
import { responsesFormat } from '../../api/inference/formats/responses-format.ts';
import { relayStream } from './relay-stream.ts';

const UPSTREAM = 'vendor/small-2026';
const PUBLIC = 'acme/small';

async function relayed(format: CallFormat, pieces: readonly Buffer[]) {
  const reader = format.openStream({ upstreamModel: UPSTREAM, publicModel: PUBLIC, showUsage: true });
  const ids: string[] = [];
  const { end, text } = await relayStream(reader, pieces, (event) => void ids.push(format.idOf(event)));
  const identity = { id: 'x', createdAtS: 1, nowS: 2, model: PUBLIC };
  const tokens = { prompt: 3, completion: 2, reasoning: null, cached: 0 };
  const last = end.kind === 'complete' ? reader.end({ identity, shown: 1_500n, tokens }).toString() : '';
  return { end, text, last, whole: text + last, usage: reader.usage(7), ids };
}

interface Event {
  name: string;
  data: Record<string, unknown>;
}

/** Every event that a client would see, by its name; and proof that there is nothing else. */
function eventsOf(text: string): Event[] {
  if (text === '') return [];
  expect(text.endsWith('\n\n')).toBe(true);
  return text
    .slice(0, -2)
    .split('\n\n')
    .map((block) => {
      const [name, data] = /^event: ([^\n]+)\ndata: ([^\n]*)$/.exec(block)?.slice(1) ?? [];
      if (name === undefined || data === undefined) throw new Error(`no event: ${block}`);
      return { name, data: JSON.parse(data) };
    });
}

const event = (data: { type: string } & Record<string, unknown>) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom(
    '"usage":{"cost":1}',
    '{"error":{}}',
    '[DONE]',
    '\n\nevent: message_stop',
    '\r\n',
    'Grüße 🚇',
  ),
);

const noise = fc.constantFrom(
  ': OPENROUTER PROCESSING\n\n',
  ':\n\n',
  'id: 4\nretry: 1\n\n',
  '\n',
  'data:\n\n',
);

function cut(text: string, cuts: readonly number[] | 'every byte'): Buffer[] {
  const bytes = Buffer.from(text);
  const at = cuts === 'every byte' ? [...bytes.keys()] : cuts.map((place) => place % (bytes.length + 1));
  const places = [0, ...at.sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((place, i) => Buffer.from(bytes.subarray(places[i], place)));
}

const anyCuts = fc.oneof(
  fc.constant('every byte' as const),
  fc.array(fc.nat({ max: 4_000 }), { maxLength: 12 }),
);

/** What a provider sends, and the data of the events that a caller sees of it. */
interface Sent {
  sent: string;
  shown: Record<string, unknown>[];
}

const messageStart = (usage: object) => ({
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', role: 'assistant', model: UPSTREAM, content: [], usage },
});

const anyMessagesStream: fc.Arbitrary<Sent> = fc
  .record({
    texts: fc.array(anyText, { maxLength: 5 }),
    noises: fc.array(noise, { minLength: 8, maxLength: 8 }),
    deltas: fc.integer({ min: 1, max: 3 }),
    ping: fc.boolean(),
    named: fc.boolean(),
  })
  .map(({ texts, noises, deltas, ping, named }) => {
    const start = messageStart({ input_tokens: 3, output_tokens: 1, cost: 9 });
    const blocks = [
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...texts.map((text) => ({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text },
      })),
      { type: 'content_block_stop', index: 0 },
      { type: 'a_new_kind_of_event', anything: { usage: 1 } },
    ];
    const pings = ping ? [{ type: 'ping' }] : [];
    const totals = Array.from({ length: deltas }, (_, n) => ({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: n + 1, cost: 0.000001, cost_details: { a: 1 }, is_byok: false },
    }));
    const all = [start, ...blocks, ...totals, ...pings, { type: 'message_stop' }];
    const sent = all
      .map((data, i) => (noises[i] ?? '') + (named ? event(data) : `data: ${JSON.stringify(data)}\n\n`))
      .join('');
    const shownStart = messageStart({ input_tokens: 3, output_tokens: 1 });
    const shown = [
      { ...shownStart, message: { ...shownStart.message, model: PUBLIC } },
      ...blocks,
      ...totals.map(({ type, delta, usage }, n) => {
        const counted = { output_tokens: usage.output_tokens };
        return { type, delta, usage: n === deltas - 1 ? { ...counted, cost: 0.0000015 } : counted };
      }),
      { type: 'message_stop' },
    ];
    // What comes between the last totals and the end is shown before them.
    if (ping) shown.splice(-2, 0, { type: 'ping' });
    return { sent, shown };
  });

const response = (status: string, more: object) => ({
  id: 'resp_1',
  object: 'response',
  status,
  model: UPSTREAM,
  output: [],
  tools: [{ type: 'function', name: 'f', parameters: { model: UPSTREAM } }],
  ...more,
});

const anyResponsesStream: fc.Arbitrary<Sent> = fc
  .record({
    texts: fc.array(anyText, { maxLength: 5 }),
    noises: fc.array(noise, { minLength: 8, maxLength: 8 }),
    last: fc.constantFrom('completed', 'incomplete'),
    more: fc.boolean(),
  })
  .map(({ texts, noises, last, more }) => {
    const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
    const created = { type: 'response.created', sequence_number: 0 };
    const middle = [
      { type: 'response.output_item.added', output_index: 0, item: { id: 'msg_1', type: 'message' } },
      ...texts.map((delta) => ({ type: 'response.output_text.delta', ...at, delta })),
      { type: 'response.output_text.done', ...at, text: texts.join('') },
      { type: 'response.some_news', error: null },
    ];
    const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };
    const end = { type: `response.${last}`, sequence_number: 9 };
    const all = [
      { ...created, response: response('in_progress', { usage: null }) },
      ...middle,
      { ...end, response: response(last, { usage: { ...usage, cost: 7, cost_details: {}, is_byok: true } }) },
    ];
    const after = more
      ? `data: [DONE]\n\n${event({ type: 'response.output_text.delta', delta: 'late' })}`
      : '';
    const shown = [
      { ...created, response: response('in_progress', { usage: null, model: PUBLIC }) },
      ...middle,
      { ...end, response: response(last, { usage: { ...usage, cost: 0.0000015 }, model: PUBLIC }) },
    ];
    return { sent: all.map((data, i) => (noises[i] ?? '') + event(data)).join('') + after, shown };
  });

describe.each([
  ['messages', messagesFormat, anyMessagesStream, '"msg_1"'],
  ['responses', responsesFormat, anyResponsesStream, '"resp_1"'],
] as const)('a stream of %s', (_name, format, anyStream, id) => {
  it('reaches the caller whole, in order, under the public name and with our cost, however it was cut', async () => {
    await fc.assert(
      fc.asyncProperty(anyStream, anyCuts, fc.constantFrom('\n', '\r\n'), async (stream, cuts, lineEnd) => {
        const { end, whole, ids, usage } = await relayed(
          format,
          cut(stream.sent.replaceAll('\n', lineEnd), cuts),
        );
        expect(end).toEqual({ kind: 'complete' });
        const events = eventsOf(whole);
        expect(events.map(({ data }) => data)).toEqual(stream.shown);
        for (const { name, data } of events) expect(name).toBe(data.type);
        expect(ids).toEqual([id]);
        expect(usage?.tokens.prompt).toBe(3);
      }),
      { numRuns: 300 },
    );
  });

  it.each(['hello', '<html>', '{"type":', '"text"', '5', '[1]', '[DONE]', '[{"error":{}}]'])(
    'ends at an event that is none, after what came before: %s',
    async (data) => {
      const good = event({ type: 'ping' });
      const { end, text } = await relayed(format, [
        Buffer.from(`${good}event: ping\ndata: ${data}\n\n${good}`),
      ]);
      expect(end).toEqual({ kind: 'malformed' });
      expect(text).toBe(good);
    },
  );

  it('is cut where it closes without its end', async () => {
    const { end } = await relayed(format, [Buffer.from(event({ type: 'ping' }))]);
    expect(end).toEqual({ kind: 'failed', cause: 'cut' });
  });

  it.each([
    { type: 'error', error: { type: 'overloaded_error', message: 'x' } },
    { type: 'error', code: 'rate_limit_exceeded', message: 'x', param: null },
    { type: 'response.failed', response: { status: 'failed', error: { code: 'x', message: 'y' } } },
  ])('ends where the provider says so: $type', async (data) => {
    if (format === messagesFormat && data.type === 'response.failed') return;
    const good = event({ type: 'ping' });
    const { end, text } = await relayed(format, [Buffer.from(good + event(data) + good)]);
    expect(end).toEqual({ kind: 'error', event: Buffer.from(JSON.stringify(data)) });
    expect(text).toBe(good);
  });

  it('shows no line that a provider hides in the name of an event', async () => {
    const { text } = await relayed(format, [
      Buffer.from('event: a b\ndata: {"type":"ping"}\n\nevent: message_stop{\ndata: {"type":"ping"}\n\n'),
    ]);
    expect(eventsOf(text).map(({ name }) => name)).toEqual(['ping', 'ping']);
  });
});

describe('the tokens of a stream of messages', () => {
  const start = event(messageStart({ input_tokens: 30, output_tokens: 1, cache_read_input_tokens: 5 }));

  it('are the last that came of each counter, what the cache held counted as read', async () => {
    const delta = { type: 'message_delta', delta: {}, usage: { input_tokens: null, output_tokens: 9 } };
    const { usage } = await relayed(messagesFormat, [Buffer.from(start + event(delta))]);
    expect(usage?.tokens).toEqual({ prompt: 35, completion: 9, reasoning: null, cached: 5 });
  });

  it('of an answer that was not counted at its end are those of its prompt and what was delivered', async () => {
    const delta = { type: 'message_delta', delta: { stop_reason: 'end_turn' } };
    const { end, usage } = await relayed(messagesFormat, [
      Buffer.from(start + event(delta) + event({ type: 'message_stop' })),
    ]);
    expect(end.kind).toBe('complete');
    expect(usage?.tokens).toEqual({
      prompt: 35,
      completion: 7,
      reasoning: null,
      cached: 5,
      estimated: true,
    });
  });

  it('come at no cost that was said before there was an answer', async () => {
    const withCost = event(messageStart({ input_tokens: 30, output_tokens: 1, cost: 0, is_byok: false }));
    const counted = { type: 'message_delta', delta: {}, usage: { output_tokens: 9 } };
    const { usage } = await relayed(messagesFormat, [Buffer.from(withCost + event(counted))]);
    expect([usage?.tokens.completion, usage?.reportedAttoUsd]).toEqual([9, null]);
    const priced = { ...counted, usage: { output_tokens: 9, cost: 2 } };
    const last = await relayed(messagesFormat, [Buffer.from(withCost + event(priced))]);
    expect(last.usage?.reportedAttoUsd).toBe(2n * 10n ** 18n);
  });

  it('of an answer that broke off are those of its prompt and what was delivered, at no final cost', async () => {
    const withCost = event(messageStart({ input_tokens: 30, output_tokens: 1, cost: 0 }));
    const { end, usage } = await relayed(messagesFormat, [Buffer.from(withCost)]);
    expect(end.kind).toBe('failed');
    expect(usage).toEqual({
      tokens: { prompt: 30, completion: 7, reasoning: null, cached: 0, estimated: true },
      cacheWritten1h: 0,
      webSearches: 0,
      reportedAttoUsd: null,
    });
  });
});

describe('the tokens of a stream of responses', () => {
  const begun = { id: 'resp_1', status: 'in_progress', output: [] };
  const zero = { input_tokens: 0, output_tokens: 0, total_tokens: 0, cost: 0 };

  it('are those of its last event: counts before there was an answer are none', async () => {
    const created = event({ type: 'response.created', response: { ...begun, usage: zero } });
    const { end, usage, text } = await relayed(responsesFormat, [Buffer.from(created)]);
    expect([end.kind, usage]).toEqual(['failed', null]);
    expect(text).toContain('"output_tokens":0');
    expect(text).not.toContain('"cost"');
  });

  it('are known of one that failed, too', async () => {
    const failed = { ...begun, status: 'failed', error: { code: 'x' }, usage: { ...zero, output_tokens: 4 } };
    const { usage } = await relayed(responsesFormat, [
      Buffer.from(event({ type: 'response.failed', response: failed })),
    ]);
    expect(usage?.tokens.completion).toBe(4);
  });
});
