import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
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
beforeAll(async () => {
  provider = await startRawProvider();
  gateway = await startTestGateway({
    yaml: formatYaml(provider.baseUrl, 'stops_billing', {
      all: 'openai',
      more: 'limits: { callsPerMinute: 60000, burst: 60000 }',
    }),
  });
});
afterAll(async () => {
  await gateway.stop();
  await provider[Symbol.asyncDispose]();
});

/** The bill is in it to be seen where it leaks. */
const CHAT = '{"prompt_tokens":90,"completion_tokens":40,"total_tokens":130,"estimated_cost":77}';
const NAMED = '{"input_tokens":90,"output_tokens":40,"estimated_cost":77}';
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
  'chat/completions': {
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
  ['chat/completions', 'chat only', 'messages'],
  ['chat/completions', 'chat only', 'responses'],
  ['messages', 'messages only', 'chat/completions'],
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
  const res = await gateway.post(body, { agent, path: `/${to}` });
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
      expect(text).not.toMatch(/estimated_cost|\\u00/);
      const records = text.match(/(?:prompt|input)_tokens"/g) ?? [];
      if (each.to === 'chat/completions') expect(records).toHaveLength(each.stream ? 0 : 1);
      else expect(records.length).toBeGreaterThan(0);
      if (!each.stream) expect(text).toMatch(/"(?:prompt|input)_tokens":90\b/);
    },
  );

  it.each(cases.filter(({ to, stream }) => to === 'chat/completions' && stream))(
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

describe('behind the end mark', () => {
  it('nothing but a usage record is read, and no part of the answer is shown', async () => {
    const written = `${HELLO}${STOP}${DONE}${chunk(choice('"content":"late"'))}event: error\ndata: {"error":"x"}\n\nnonsense\n\n${chunk(null, `,"usage":${CHAT}`)}`;
    const { text, chargedNanoUsd } = await call({
      from: 'chat/completions',
      kind: 'all formats',
      to: 'chat/completions',
      place: '',
      written,
      stream: true,
    });
    expect(text).toBe(HELLO + STOP + DONE);
    expect(chargedNanoUsd).toBe(CHARGE);
  });
});
