import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { AnswerWords } from '../../api/inference/scrub/answer-words.ts';
import { scrubAnswer, scrubEvents } from '../../api/inference/scrub/scrub-answer.ts';
import { piecesOf, relayStream } from './relay-stream.ts';

/* Members that servers write beside an answer do not tell a caller the provider's key, its address or its name of the model. */

const KEY = 'sk-prov-Zx81kQpLm29vTT07';
const HOST = 'llm7.corp.internal';
const UPSTREAM = 'llama-internal-x7';
const PUBLIC = 'own/x';
const hidden = {
  provider: { id: 'p1', apiKey: KEY, baseUrl: `http://${HOST}:8000/v1` },
  upstreamModel: UPSTREAM,
  publicModel: PUBLIC,
};
const SECRETS = [KEY, HOST, UPSTREAM, '10.1.2.3'];

type Event = Readonly<Record<string, unknown>>;
const told: [string, Event][] = [
  ['kv_transfer_params of vLLM', { kv_transfer_params: { remote_host: '10.1.2.3', remote_port: 41 } }],
  ['__verbose of llama.cpp', { __verbose: { model: `/srv/${UPSTREAM}.gguf`, prompt: 'x' } }],
  ['_hidden_params of LiteLLM', { _hidden_params: { api_base: `http://${HOST}:8000`, api_key: KEY } }],
  ['names of the model', { model_name: UPSTREAM, upstream_model: UPSTREAM, Model: UPSTREAM }],
  ['warnings', { warnings: [`no answer of ${HOST}`], status_msg: `used ${KEY}` }],
  ['metadata', { metadata: { host: HOST } }],
];

const frame = { id: 'c1', created: 1, model: PUBLIC };
const text = `Rain at ${HOST} on ${UPSTREAM}`;
const item = {
  ...{ id: 'i', type: 'message', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text, annotations: [] }],
};
const answers: [string, (members: Event) => Event][] = [
  [
    'a chat',
    (members) => ({
      ...{ ...frame, object: 'chat.completion', ...members },
      choices: [{ index: 0, message: { role: 'assistant', content: text, ...members }, ...members }],
      usage: { prompt_tokens: 1, ...members },
    }),
  ],
  [
    'a message',
    (members) => ({
      ...{ ...frame, type: 'message', role: 'assistant', ...members },
      content: [{ type: 'text', text, ...members }],
      usage: { input_tokens: 1, ...members, model: UPSTREAM },
    }),
  ],
  [
    'a response',
    (members) => ({
      ...{ ...frame, object: 'response', status: 'completed', output: [{ ...item, ...members }] },
      ...Object.fromEntries(Object.entries(members).filter(([name]) => name !== 'metadata')),
      usage: { input_tokens: 1, ...members },
    }),
  ],
];

const expectNothing = (shown: string): void => {
  const without = shown.replaceAll(JSON.stringify(text).slice(1, -1), '');
  for (const secret of SECRETS) expect(without).not.toContain(secret);
};

describe.each(told)('%s', (_name, members) => {
  it.each(answers)('does not pass in %s, and the text does', (_format, answerOf) => {
    const answer = Buffer.from(JSON.stringify(answerOf(members)));
    const shown = scrubAnswer(answer, hidden).toString();
    expectNothing(shown);
    expect(shown).toContain(text);
    expect(JSON.parse(shown)).toMatchObject({ id: 'c1', model: PUBLIC });
  });
});

it.each(answers)('%s without such a member is the same buffer', (_format, answerOf) => {
  const plain = JSON.stringify(answerOf({ more: { a: 1.0 } }))
    .replaceAll(text, 'Rain')
    .replaceAll(UPSTREAM, 'y');
  const answer = Buffer.from(plain);
  expect(scrubAnswer(answer, hidden)).toBe(answer);
});

it('an answer that is changed keeps the digits of its numbers and the arguments of its calls', () => {
  const json = `{"id":"c","choices":[{"message":{"tool_calls":[{"id":"call_${KEY}","function":{"name":"f","arguments":"${HOST}"}}]}}],"n":12345678901234567890,"x":"${KEY}"}`;
  const shown = scrubAnswer(Buffer.from(json), hidden).toString();
  expect(shown).toMatch(/"id":"call_[0-9a-f]{24}"/);
  expect(shown).toContain(`"arguments":"${HOST}"`);
  expect(shown).toContain('12345678901234567890');
  expect(shown).not.toContain(KEY);
});

it('the reasons of a choice and the status of an item do not tell of the provider', () => {
  const words = `no answer of ${HOST} with ${KEY}`;
  const reasons = { native_finish_reason: words, stop_reason: words, matched_stop: words };
  const answer = {
    choices: [{ index: 0, finish_reason: 'stop', ...reasons }],
    output: [{ ...item, status: words, content: [] }],
  };
  const shown = scrubAnswer(Buffer.from(JSON.stringify(answer)), hidden).toString();
  expectNothing(shown);
  expect(JSON.parse(shown)).toMatchObject({
    choices: [{ finish_reason: 'stop' }],
    output: [{ status: 'completed' }],
  });
});

/* Names under which a format has what the model or its caller wrote, in other places than there. */
const borrowedNames = [
  ...['action', 'code', 'data', 'error', 'file', 'image_url', 'input', 'name', 'namespace', 'operation'],
  ...['output_text', 'outputs', 'prompt', 'query', 'queries', 'result', 'results', 'role', 'search_info'],
  ...['source', 'sources', 'summary', 'title', 'tools', 'transcript', 'type', 'url', 'user'],
];
const server = { api_base: `http://${HOST}/v1`, api_key: KEY, model: UPSTREAM };
const placed: [string, (told: Event) => Event][] = [
  ['a chat', (told) => ({ ...frame, ...told, choices: [] })],
  ['a choice', (told) => ({ ...frame, choices: [{ index: 0, message: { content: text }, ...told }] })],
  [
    'the delta of a chunk',
    (told) => ({ ...frame, choices: [{ index: 0, delta: { content: text, ...told } }] }),
  ],
  [
    'a call of a chat',
    (told) => ({ ...frame, choices: [{ delta: { tool_calls: [{ index: 0, type: 'function', ...told }] } }] }),
  ],
  ['the usage of a chat', (told) => ({ ...frame, choices: [], usage: { prompt_tokens: 1, ...told } })],
  ['a message', (told) => ({ ...frame, content: [], ...told })],
  ['the text of a message', (told) => ({ ...frame, type: 'message', content: [{ text, ...told }] })],
  ['an event of a message', (told) => ({ index: 0, content_block: { type: 'text', text: '' }, ...told })],
  [
    'a text of a response',
    (told) => ({ object: 'response', output: [{ ...item, content: [{ text, ...told }] }] }),
  ],
  ['the usage of a response', (told) => ({ object: 'response', output: [], usage: { ...told } })],
];

describe.each(placed)('beside the content of %s', (place, answerOf) => {
  const ownNames: Record<string, string[]> = {
    'the delta of a chunk': ['search_info'],
    'a call of a chat': ['name'],
    'a chat': ['search_info'],
  };
  const names = borrowedNames.filter((name) => ownNames[place]?.includes(name) !== true);
  it.each(names)('a member that is named %s does not tell of the provider', (name) => {
    const answer = Buffer.from(JSON.stringify(answerOf({ [name]: server })));
    expectNothing(scrubAnswer(answer, hidden).toString());
  });
});

describe('a response that repeats its request', () => {
  const echo = {
    instructions: `Ask ${UPSTREAM} about corp.internal`,
    tools: [{ type: 'x' }],
    user: UPSTREAM,
  };

  it('keeps the words of the caller, who may name any model', () => {
    const answer = Buffer.from(
      JSON.stringify({ ...frame, object: 'response', ...echo, output: [], text: {} }),
    );
    expect(JSON.parse(scrubAnswer(answer, hidden).toString())).toMatchObject(echo);
  });

  it.each(Object.keys(echo))('does not tell the key or the address of its provider in %s', (name) => {
    const answer = Buffer.from(JSON.stringify({ ...frame, object: 'response', [name]: server, output: [] }));
    expectNothing(scrubAnswer(answer, hidden).toString());
  });
});

it('sources that were found keep their pages about the model, and do not tell where it runs', () => {
  const found = { citations: [`https://docs.corp.internal/${UPSTREAM}-guide`] };
  const answer = { ...frame, choices: [], ...found, search_info: server };
  const shown = JSON.parse(scrubAnswer(Buffer.from(JSON.stringify(answer)), hidden).toString());
  expect(shown).toEqual({ ...frame, choices: [], ...found });
});

const LARGE = 'acme-internal/Llama-3.1-70B-Instruct';
const base64 = (words: string): string => Buffer.from(words).toString('base64');
describe.each([
  ['a chat', (told: string): string => `{"id":"c","choices":[],"served_by":"${told}"}`],
  ['a message', (told: string): string => `{"id":"c","type":"message","content":[],"served_by":"${told}"}`],
])('%s', (_format, answerOf) => {
  const shownOf = (told: string, publicModel = PUBLIC, upstreamModel = LARGE): string =>
    scrubAnswer(Buffer.from(answerOf(told)), { ...hidden, publicModel, upstreamModel }).toString();

  it.each([
    ['the address in capitals', `HTTP://${HOST.toUpperCase()}:8000/V1`],
    ['the key in capitals', KEY.toUpperCase()],
    ['the key in base64', base64(KEY)],
    ['the key behind a name in base64', base64(`u:${KEY}`)],
    ['the key behind another name in base64', base64(`me:${KEY}!`)],
    ['the model in small letters', LARGE.toLowerCase()],
    ['the model with a slash that is escaped', LARGE.replace('/', '\\/')],
    ['the model without its vendor', 'Llama-3.1-70B-Instruct'],
    ['the model as a folder', LARGE.replace('/', '--')],
    ['the model in words', 'llama 3.1 70b instruct on a GPU'],
    ['letters as escapes', LARGE.replace('L', '\\u004c')],
  ])('does not tell %s', (_form, told) => {
    expect(shownOf(told)).not.toContain('served_by');
  });

  it.each([
    ['the model as the caller knows it', 'Llama-3.1-70B-Instruct', 'meta/Llama-3.1-70B-Instruct', LARGE],
    ['a word that the model is named after', 'a turbo engine', PUBLIC, 'acme/turbo'],
    ['a long word that the model is named after', 'experimental build', PUBLIC, 'acme/experimental'],
    ['a word that tells nobody', 'large', PUBLIC, 'acme/large'],
  ])('keeps %s', (_form, told, publicModel, upstreamModel) => {
    expect(shownOf(told, publicModel, upstreamModel)).toContain(`"served_by":"${told}"`);
  });
});

it('a name at the border of two parts of a long answer is found', () => {
  for (let chars = 65_500; chars < 65_580; chars += 3) {
    const answer = Buffer.from(`{"id":"${'a'.repeat(chars)}","choices":[],"served_by":"${HOST}"}`);
    expect(scrubAnswer(answer, hidden).toString()).not.toContain(HOST);
  }
});

const chunk = (delta: object, members: object = {}): Event => ({
  ...{ ...frame, object: 'chat.completion.chunk' },
  choices: [{ index: 0, delta, finish_reason: null }],
  ...members,
});
const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Rain' } };
const streams: [FormatName, (members: object) => Event[]][] = [
  [
    'chat',
    (members) => [
      chunk({ role: 'assistant', content: '' }),
      ...[0, 1, 2].map(() => chunk({ content: 'Rain' })),
      ...[0, 1, 2].map(() => chunk({ content: 'Rain' }, members)),
      { ...chunk({}, members), choices: [{ index: 0, delta: {}, finish_reason: 'stop', ...members }] },
    ],
  ],
  [
    'messages',
    (members) => [
      {
        type: 'message_start',
        message: { ...frame, role: 'assistant', content: [], usage: { input_tokens: 1 }, ...members },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' }, ...members },
      ...[delta, delta, { ...delta, ...members }, { ...delta, ...members }],
      { type: 'content_block_stop', index: 0 },
      { type: 'notice', ...members },
      {
        ...{ type: 'message_delta', delta: { stop_reason: 'end_turn' }, model: UPSTREAM, ...members },
        usage: { output_tokens: 2, model: UPSTREAM },
      },
      { type: 'message_stop', model: UPSTREAM },
    ],
  ],
];

describe.each(streams)('a stream of %s', (format, eventsOf) => {
  it.each(told.filter(([, members]) => !JSON.stringify(members).includes('10.1.2.3')))(
    'does not tell of its provider in %s, whichever event has it',
    async (_name, members) => {
      for (const publicModel of [PUBLIC, UPSTREAM]) {
        const shownWords = { ...hidden, publicModel };
        const reader = callFormats[format].openStream({
          ...{ upstreamModel: UPSTREAM, publicModel, showUsage: true, hidden: shownWords },
          ...{ ownId: 'gen-1', createdAtS: 1 },
        });
        const sent = eventsOf(members).map((event) => {
          const name = format === 'chat' ? '' : `event: ${String(event.type)}\n`;
          return `${name}data: ${JSON.stringify(event)}\n\n`;
        });
        const words = new AnswerWords(shownWords);
        const scrub = (events: Buffer): Buffer => scrubEvents(events, words);
        const { text: passed } = await relayStream(reader, piecesOf(sent.join(''), 1e6), undefined, scrub);
        const identity = { id: 'gen-1', createdAtS: 1, nowS: 1, model: publicModel };
        const tokens = { prompt: 3, completion: 2, reasoning: null, cached: 0 };
        const last = scrub(reader.end({ identity, shown: null, tokens })).toString();
        for (const secret of [KEY, HOST]) expect(passed + last).not.toContain(secret);
        if (publicModel === PUBLIC) expect(passed + last).not.toContain(UPSTREAM);
        expect(passed).toContain('Rain');
      }
    },
  );
});

it.each<[string, Event]>([
  [
    'a patch',
    { type: 'apply_patch_call', id: 'i', operation: { type: 'create_file', path: 'a', diff: `+${HOST}` } },
  ],
  ['commands', { type: 'shell_call', id: 'i', action: { commands: [`curl http://${HOST}`, UPSTREAM] } }],
  ['a search', { type: 'web_search_call', id: 'i', action: { query: HOST, sources: [{ url: HOST }] } }],
  ['code', { type: 'code_interpreter_call', id: 'i', code: `call("${HOST}")`, outputs: null }],
  ['arguments', { type: 'function_call', id: 'i', name: 'f', arguments: `{"host":"${HOST}"}` }],
  ['the input of a tool', { type: 'tool_use', id: 'i', name: 'f', input: { model: UPSTREAM, host: HOST } }],
])('what the model wrote names any address and model that it will: %s', (_name, written) => {
  const answer = { ...frame, object: 'response', output: [written], content: [written] };
  expect(JSON.parse(scrubAnswer(Buffer.from(JSON.stringify(answer)), hidden).toString())).toEqual(answer);
});
