import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { plays, type RawProvider, startRawProvider } from '../support/raw-provider.ts';
import { formatYaml, modelOf, type ProviderKind } from './format-gateway.ts';
import { FORMATS, requestIn } from './requests.ts';
import { namedEvent } from './wires.ts';

/*
 * Wherever a server puts its usage record, the call pays by it, and a caller sees one record at most: ours. Places that are known from
 * servers of the trade, or from mistakes in the documentation that others copied.
 */

let provider: RawProvider;
let gateway: TestGateway;
/** Asks its provider for whole answers. */
let whole: TestGateway;
beforeAll(async () => {
  provider = await startRawProvider();
  gateway = await startTestGateway({
    yaml: formatYaml(provider.baseUrl, 'stops_billing', {
      all: 'openai',
      more: MORE,
    }),
  });
});
beforeAll(async () => {
  whole = await startTestGateway({
    yaml: formatYaml(provider.baseUrl, 'bills_full', {
      all: 'openai',
      more: MORE,
    }),
  });
});
afterAll(async () => {
  await whole.stop();
  await gateway.stop();
  await provider[Symbol.asyncDispose]();
});

/** The provider's own name of this model is the public one, so most chunks of its chats pass unread. */
const UNREAD = 'acme/plain';
const MORE = `  - { id: ${UNREAD}, contextLength: 32768, maxOutputTokens: 4096, inputModalities: [text], endpoints: [{ provider: all, model: ${UNREAD}, pricing: { prompt: "0.000000123", completion: "0.000000457" } }] }
limits: { callsPerMinute: 60000, burst: 60000 }`;

/** The bill is in it to be seen where it leaks. */
const CHAT = '{"prompt_tokens":90,"completion_tokens":40,"total_tokens":130,"estimated_cost":77}';
const NAMED = '{"input_tokens":90,"output_tokens":40,"estimated_cost":77}';
const METRICS =
  '"amazon-bedrock-invocationMetrics":{"inputTokenCount":90,"outputTokenCount":40,"estimated_cost":77}';
const CHARGE = 90n * 123n + 40n * 457n;

const chunk = (choice: string | null, more = ''): string =>
  `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[${choice ?? ''}]${more}}\n\n`;
const choice = (delta: string, more = ''): string => `{"index":0,"delta":{${delta}}${more}}`;
const HELLO = chunk(choice('"role":"assistant","content":"Hello"', ',"finish_reason":null'));
const STOP = chunk(choice('', ',"finish_reason":"stop"'));
const DONE = 'data: [DONE]\n\n';

const responseOf = (status: string, usage: string | null): string =>
  `{"id":"r","object":"response","created_at":1,"status":"${status}","model":"m","output":[${
    status === 'completed'
      ? '{"type":"message","id":"i","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hello","annotations":[]}]}'
      : ''
  }]${usage === null ? '' : `,"usage":${usage}`}}`;
const CREATED = namedEvent('response.created', {}, `,"response":${responseOf('in_progress', 'null')}`);
const textDelta = (more = ''): string =>
  namedEvent(
    'response.output_text.delta',
    { item_id: 'i', output_index: 0, content_index: 0, delta: 'Hello' },
    more,
  );
const completed = (more = '', usage: string | null = null): string =>
  namedEvent('response.completed', {}, `,"response":${responseOf('completed', usage)}${more}`);

const started = (usage: string, more = ''): string =>
  namedEvent(
    'message_start',
    {},
    `,"message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":${usage}}${more}`,
  );
const block = (more = ''): string =>
  namedEvent('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
  namedEvent('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hello' } }, more) +
  namedEvent('content_block_stop', { index: 0 });
const delta = (ofDelta = '', more = ''): string =>
  namedEvent(
    'message_delta',
    {},
    `,"delta":{"stop_reason":"end_turn","stop_sequence":null${ofDelta}}${more}`,
  );
const stop = (more = ''): string => namedEvent('message_stop', {}, more);
const ZEROS = '{"input_tokens":0,"output_tokens":0}';

const places: Record<FormatName, Record<string, string>> = {
  chat: {
    'in the last chunk (the format itself)': HELLO + STOP + chunk(null, `,"usage":${CHAT}`) + DONE,
    'in the delta of a choice': HELLO + chunk(choice(`"usage":${CHAT}`, ',"finish_reason":"stop"')) + DONE,
    'in a delta with text': chunk(choice(`"content":"Hello","usage":${CHAT}`)) + STOP + DONE,
    'in the message of a choice':
      HELLO + chunk(`{"index":0,"delta":{},"message":{"usage":${CHAT}},"finish_reason":"stop"}`) + DONE,
    'in a chunk with an empty delta behind the finish':
      HELLO + STOP + chunk(choice(''), `,"usage":${CHAT}`) + DONE,
    'in a member of the vendor’s own': HELLO + STOP + chunk(null, `,"x_vendor":{"usage":${CHAT}}`) + DONE,
    'zeros in its place, and the truth in the vendor’s member':
      HELLO +
      chunk(
        choice('', ',"finish_reason":"stop"'),
        `,"usage":{"prompt_tokens":0,"completion_tokens":0},"x_groq":{"usage":${CHAT}}`,
      ) +
      DONE,
    'in the vendor’s member of a choice':
      HELLO + chunk(choice('', `,"finish_reason":"stop","x_vendor":{"usage":${CHAT}}`)) + DONE,
    'in its place, and the vendor’s bill beside it':
      HELLO + STOP + chunk(null, `,"usage":${CHAT},"x_vendor":{"usage":${CHAT}}`) + DONE,
    'behind the end mark': HELLO + STOP + DONE + chunk(null, `,"usage":${CHAT}`),
    'behind the end mark, where zeros came before':
      HELLO +
      STOP +
      chunk(null, ',"usage":{"prompt_tokens":0,"completion_tokens":0}') +
      DONE +
      chunk(null, `,"usage":${CHAT}`),
    'alone behind the end mark, and a second mark': `${HELLO}${STOP}${DONE}data: {"usage":${CHAT}}\n\n${DONE}`,
    'under an escaped name': HELLO + STOP + chunk(null, `,"\\u0075sage":${CHAT}`) + DONE,
    'with escaped names inside':
      HELLO + STOP + chunk(null, `,"usage":${CHAT.replace('prompt', 'pr\\u006fmpt')}`) + DONE,
    'under an escaped name in a delta':
      HELLO + chunk(choice(`"us\\u0061ge":${CHAT}`, ',"finish_reason":"stop"')) + DONE,
    'as texts': HELLO + STOP + chunk(null, `,"usage":${CHAT.replace(/(\d+)/g, '"$1"')}`) + DONE,
    'as floats': HELLO + STOP + chunk(null, `,"usage":${CHAT.replace(/(\d+)/g, '$1.0')}`) + DONE,
  },
  responses: {
    'in the last response (the format itself)': CREATED + textDelta() + completed('', NAMED),
    'beside the last response': CREATED + textDelta() + completed(`,"usage":${NAMED}`),
    'beside a last response of zeros': CREATED + textDelta() + completed(`,"usage":${NAMED}`, ZEROS),
    'beside a piece of the text': CREATED + textDelta(`,"usage":${NAMED}`) + completed('', ZEROS),
    'in an event of its own':
      CREATED + textDelta() + namedEvent('usage', {}, `,"usage":${NAMED}`) + completed(),
    'in the vendor’s member of the last response':
      CREATED + textDelta() + completed('', `null,"x_groq":{"usage":${NAMED}}`),
    'in the vendor’s member beside the last response':
      CREATED + textDelta() + completed(`,"x_groq":{"usage":${NAMED}}`),
    'in its place, and the vendor’s bill in two members':
      CREATED + textDelta() + completed(`,"x_v":{"usage":${NAMED}}`, `${NAMED},"x_groq":{"usage":${NAMED}}`),
    'in the metrics of Bedrock': CREATED + textDelta() + completed('', `null,${METRICS}`),
    'in an event of its own behind the last response':
      CREATED + textDelta() + completed() + namedEvent('response.usage', {}, `,"usage":${NAMED}`),
    'behind an end mark of another format': `${CREATED}${textDelta()}${completed()}${DONE}data: {"usage":${NAMED}}\n\n`,
    'under an escaped name': CREATED + textDelta() + completed(`,"\\u0075s\\u0061ge":${NAMED}`),
  },
  messages: {
    'in the last delta (the format itself)':
      started(ZEROS) + block() + delta('', `,"usage":${NAMED}`) + stop(),
    'inside the last delta': started(ZEROS) + block() + delta(`,"usage":${NAMED}`) + stop(),
    'in the stop': started(ZEROS) + block() + delta() + stop(`,"usage":${NAMED}`),
    'in the stop, behind zeros':
      started(ZEROS) + block() + delta('', `,"usage":${ZEROS}`) + stop(`,"usage":${NAMED}`),
    'in a message inside the stop':
      started(ZEROS) + block() + delta() + stop(`,"message":{"usage":${NAMED}}`),
    'in the vendor’s member of the last delta':
      started(ZEROS) + block() + delta('', `,"x_vendor":{"usage":${NAMED}}`) + stop(),
    'in its place, and the vendor’s bill in three members':
      started(`${ZEROS},"x_a":{"usage":${NAMED}}`) +
      block() +
      delta(`,"x_b":{"usage":${NAMED}}`, `,"usage":${NAMED},"x_c":{"usage":${NAMED}}`) +
      stop(),
    'in the vendor’s member of the first message':
      started(`${ZEROS},"x_vendor":{"usage":${NAMED}}`) + block() + delta() + stop(),
    'in the metrics of Bedrock in the last delta':
      started(ZEROS) + block() + delta('', `,${METRICS}`) + stop(),
    'in a second delta behind the first':
      started(ZEROS) + block() + delta('', `,"usage":${ZEROS}`) + delta('', `,"usage":${NAMED}`) + stop(),
    'beside the message at the start':
      started(ZEROS, `,"usage":{"input_tokens":90,"output_tokens":1}`) +
      block() +
      delta('', ',"usage":{"output_tokens":40}') +
      stop(),
    'beside a piece of the text':
      started(ZEROS) + block(`,"usage":${NAMED}`) + delta('', `,"usage":${ZEROS}`) + stop(),
    'behind the stop': started(ZEROS) + block() + delta() + stop() + delta('', `,"usage":${NAMED}`),
    'behind an end mark of another format': `${started(ZEROS)}${block()}${delta()}${stop()}${DONE}data: {"usage":${NAMED}}\n\n`,
    'under an escaped name': started(ZEROS) + block() + delta('', `,"\\u0075sage":${NAMED}`) + stop(),
  },
};

/** Every format is passed and assembled; two of them are translated into each other and into the third. */
const ways: [FormatName, ProviderKind, FormatName][] = [
  ...FORMATS.map((format): [FormatName, ProviderKind, FormatName] => [format, 'all formats', format]),
  ['chat', 'chat only', 'messages'],
  ['chat', 'chat only', 'responses'],
  ['messages', 'messages only', 'chat'],
];

const cases = ways.flatMap(([from, kind, to]) =>
  Object.entries(places[from]).flatMap(([place, written]) =>
    [true, false].map((stream) => ({ from, kind, to, place, written, stream })),
  ),
);

async function call({ kind, to, written, stream }: (typeof cases)[number], extra: object = {}) {
  provider.answers = plays(written);
  const agent = await gateway.newAgent({ creditUsd: '1' });
  const body = requestIn(to, modelOf[kind], { stream, ...extra });
  const res = await gateway.post(body, { agent, path: pathOf(to) });
  const text = await res.text();
  expect(res.status, text).toBe(200);
  return { text, chargedNanoUsd: (await gateway.settled(agent)).chargedNanoUsd };
}

describe('a usage record', () => {
  it.each(cases)(
    'is paid and never shown as it came: $from to $to, stream: $stream, $place',
    async (each) => {
      const { text, chargedNanoUsd } = await call(each);
      expect(chargedNanoUsd).toBe(CHARGE);
      expect(text).toContain('Hello');
      expect(text).not.toMatch(/estimated_cost|invocationMetrics|\\u00/);
      const records = text.match(/(?:prompt|input)_tokens"/g) ?? [];
      if (each.to === 'chat') expect(records).toHaveLength(each.stream ? 0 : 1);
      else expect(records.length).toBeGreaterThan(0);
      if (!each.stream) expect(text).toMatch(/"(?:prompt|input)_tokens":90\b/);
    },
  );

  it.each(cases.filter(({ to, stream }) => to === 'chat' && stream))(
    'is shown once with the charge to a caller who asks for it: $from, $place',
    async (each) => {
      const { text } = await call(each, { stream_options: { include_usage: true } });
      expect(text.match(/"usage"/g)).toHaveLength(1);
      expect(text).toContain('"prompt_tokens":90');
      expect(text).toContain('"completion_tokens":40');
      expect(text).not.toContain('estimated_cost');
    },
  );
});

const LONG_TEXT = 'lorem ipsum '.repeat(300);
/** Four bytes a token. */
const LONG_TOKENS = BigInt(Math.ceil((LONG_TEXT.length + 'Hello'.length) / 4));
const LONG =
  chunk(choice(`"content":"${LONG_TEXT.slice(0, 1_800)}"`)) +
  chunk(choice(`"content":"${LONG_TEXT.slice(1_800)}"`));
const early = (completion: number): string =>
  `,"usage":{"prompt_tokens":90,"completion_tokens":${completion}}`;
const LATE = 'data: {"usage":{"prompt_tokens":90,"completion_tokens":901}}\n\n';
const openings: Record<string, string> = {
  'the first chunk': chunk(choice('"role":"assistant","content":"Hello"'), early(1)),
  'a chunk before the text': chunk(null, early(1)) + HELLO,
  'a choice that ends before another':
    chunk(`{"index":1,"delta":{},"finish_reason":"stop"}`, early(1)) + HELLO,
};

describe.each([
  ['chat', 'all formats', UNREAD],
  ['chat', 'all formats', modelOf['all formats']],
  ['messages', 'chat only', modelOf['chat only']],
] as const)('a chat that its provider counts too early, shown as %s, %s: %s', (to, kind, model) => {
  const charged = async (written: string) => {
    const shape = { from: 'chat', kind, to, place: '', written } as const;
    const extra = { model, max_tokens: 2_000 };
    const [streamed, collected] = [
      await call({ ...shape, stream: true }, extra),
      await call({ ...shape, stream: false }, extra),
    ];
    expect(collected.chargedNanoUsd).toBe(streamed.chargedNanoUsd);
    return streamed.chargedNanoUsd;
  };

  it.each(Object.entries(openings))(
    'pays for its text where the only count stands in %s',
    async (_, opening) => {
      expect(await charged(opening + LONG + DONE)).toBe(90n * 123n + LONG_TOKENS * 457n);
    },
  );

  it.each(Object.entries(openings))(
    'pays by the count behind its end where one stands in %s',
    async (_, opening) => {
      expect(await charged(opening + LONG + DONE + LATE)).toBe(90n * 123n + 901n * 457n);
    },
  );

  it.each(Object.entries(openings))(
    'pays for its text where zeros follow the count in %s',
    async (_, opening) => {
      const zeros = chunk(null, ',"usage":{"prompt_tokens":0,"completion_tokens":0}');
      expect(await charged(opening + LONG + zeros + DONE)).toBe(90n * 123n + LONG_TOKENS * 457n);
    },
  );
});

it('a chat that breaks off pays for its text, whatever its first chunk counted', async () => {
  provider.answers = (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(openings['the first chunk'] + LONG, () => res.destroy());
  };
  const agent = await gateway.newAgent({ creditUsd: '1' });
  const res = await gateway.post(requestIn('chat', UNREAD, { stream: true }), {
    agent,
  });
  await res.text().catch(() => null);
  expect((await gateway.settled(agent)).chargedNanoUsd).toBe(90n * 123n + LONG_TOKENS * 457n);
});

const ZERO_CHAT = '{"prompt_tokens":0,"completion_tokens":0}';
/** Members beside the answer: the same in a whole one, and in the last chunk or event of a stream. */
const beside: Record<FormatName, readonly string[]> = {
  chat: [
    `,"usage":${ZERO_CHAT},"x_groq":{"usage":${CHAT}}`,
    `,"usage":{"prompt_tokens":90,"completion_tokens":0},"x_groq":{"usage":${CHAT}}`,
    `,"x_a":{"usage":{"prompt_tokens":90,"completion_tokens":0}},"x_b":{"usage":${CHAT}}`,
    `,"usage":${CHAT},"x_groq":{"usage":${ZERO_CHAT}}`,
    `,"usage":null,"x_vendor":{"id":"kept-7","usage":${CHAT}}`,
    `,${METRICS}`,
  ],
  responses: [
    `,"usage":${ZEROS},"x_vendor":{"usage":${NAMED}}`,
    `,"usage":{"input_tokens":90,"output_tokens":0},"x_vendor":{"usage":${NAMED}}`,
    `,"x_vendor":{"id":"kept-7","usage":${NAMED}}`,
    `,"usage":${NAMED},"x_vendor":{"usage":${NAMED}}`,
    `,${METRICS}`,
  ],
  messages: [
    `,"usage":${ZEROS},"x_vendor":{"usage":${NAMED}}`,
    `,"usage":{"input_tokens":90,"output_tokens":0},"x_vendor":{"usage":${NAMED}}`,
    `,"x_vendor":{"id":"kept-7","usage":${NAMED}}`,
    `,"usage":${NAMED},"x_vendor":{"usage":${NAMED}}`,
    `,${METRICS}`,
    `,"usage":${ZEROS},${METRICS}`,
  ],
};
const wholes: Record<FormatName, (more: string) => string> = {
  chat: (more) =>
    `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]${more}}`,
  responses: (more) => `${responseOf('completed', null).slice(0, -1)}${more}}`,
  messages: (more) =>
    `{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn","stop_sequence":null${more}}`,
};
const streams: Record<FormatName, (more: string) => string> = {
  chat: (more) => HELLO + chunk(choice('', ',"finish_reason":"stop"'), more) + DONE,
  responses: (more) =>
    CREATED + textDelta() + namedEvent('response.completed', {}, `,"response":${wholes.responses(more)}`),
  messages: (more) => started(ZEROS) + block() + delta('', more) + stop(),
};
const same = FORMATS.flatMap((format) => beside[format].map((more) => ({ format, more })));

describe('the same records beside an answer', () => {
  it.each(same)(
    'cost the same whole and streamed, and none is shown: $format, $more',
    async ({ format, more }) => {
      const written = streams[format](more);
      const shape = { from: format, kind: 'all formats', to: format, place: '', written } as const;
      const streamed = await call({ ...shape, stream: true });
      const unread = await call({ ...shape, stream: true }, { model: UNREAD });
      const collected = await call({ ...shape, stream: false });
      const agent = await whole.newAgent({ creditUsd: '1' });
      provider.answers = plays(wholes[format](more), 'application/json');
      const res = await whole.post(requestIn(format, modelOf['all formats']), {
        agent,
        path: pathOf(format),
      });
      const text = await res.text();
      expect(res.status, text).toBe(200);
      expect((await whole.settled(agent)).chargedNanoUsd).toBe(CHARGE);
      for (const { chargedNanoUsd } of [streamed, unread, collected]) expect(chargedNanoUsd).toBe(CHARGE);
      expect(streamed.text + unread.text + collected.text + text).not.toMatch(
        /estimated_cost|invocationMetrics/,
      );
      expect(text).toMatch(/"(?:prompt|input)_tokens":90\b/);
      expect(text).toMatch(/"(?:completion|output)_tokens":40\b/);
      // Members of the vendor's that are no record pass.
      if (more.includes('kept-7')) {
        expect(text).toContain('kept-7');
        if (format !== 'chat') expect(streamed.text).toContain('kept-7');
      }
    },
  );
});

describe('behind the end mark', () => {
  it('nothing but a usage record is read, and no part of the answer is shown', async () => {
    const written = `${HELLO}${STOP}${DONE}${chunk(choice('"content":"late"'))}event: error\ndata: {"error":"x"}\n\nnonsense\n\n${chunk(null, `,"usage":${CHAT}`)}`;
    const { text, chargedNanoUsd } = await call({
      from: 'chat',
      kind: 'all formats',
      to: 'chat',
      place: '',
      written,
      stream: true,
    });
    expect(text.replaceAll('"provider":"faregate",', '')).toBe(HELLO + STOP + DONE);
    expect(chargedNanoUsd).toBe(CHARGE);
  });
});
