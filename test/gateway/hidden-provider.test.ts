import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { FORMATS, requestIn } from '../formats/requests.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { plainHealth } from '../support/plain-health.ts';
import { sharedCluster } from '../support/shared-cluster.ts';
import { startWireProvider, type WireAnswer, type WireProvider } from '../support/wire-provider.ts';

const KEY = 'token-abc123';
const UPSTREAM_MODEL = 'acme-internal/Llama-3.1-70B-Instruct';
const USEFUL = 'temperature must be lower';
const PRICING = '{ prompt: "0.000001", completion: "0.000004" }';

let wire: WireProvider;
let gateway: TestGateway;
let host = '';
/** The sentence that every answer below has somewhere, with everything in it that no caller may read. */
let words = '';

beforeAll(async () => {
  wire = await startWireProvider();
  host = new URL(wire.url).host;
  words = `${UPSTREAM_MODEL} at ${wire.url}/v1 (${host}) got Bearer ${KEY}: ${USEFUL}; see /opt/acme/server.py of org-acme7f3k9, gpu-7.acme.internal:30000 and [fd12::7]:8080`;
  const folder = await mkdtemp(join(tmpdir(), 'faregate-hidden-'));
  const keyFile = join(folder, 'key');
  await writeFile(keyFile, KEY);
  const kinds = [
    ['chat', 'kind: openai, dialect: other, formats: [chat/completions]'],
    ['responses', 'kind: openai, dialect: other, formats: [chat/completions, responses]'],
    ['messages', 'kind: anthropic'],
    ['router', 'kind: openrouter, catalog: none'],
  ] as const;
  const all = kinds.flatMap(([name, spoken]) =>
    (['stops_billing', 'bills_full'] as const).map((cancel) => ({
      id: `acme-${name}-${cancel}`,
      spoken,
      cancel,
    })),
  );
  gateway = await startTestGateway({
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers:
${all.map(({ id, spoken, cancel }) => `  - { id: ${id}, ${spoken}, cancel: ${cancel}, baseUrl: "${wire.url}/v1", apiKeyFile: "${keyFile}" }`).join('\n')}
models:
${all.map(({ id }) => `  - { id: shown/${id.slice(5)}, contextLength: 32768, maxOutputTokens: 4096, endpoints: [{ provider: ${id}, model: ${UPSTREAM_MODEL}, pricing: ${PRICING} }] }`).join('\n')}
videoModels:
  - id: shown/clip
    provider: acme-router-stops_billing
    model: ${UPSTREAM_MODEL}
    resolutions: [720p]
    aspectRatios: ["16:9"]
    durations: [4]
    pricing: { duration_seconds_720p: "0.05" }
imageModels:
  - id: shown/paint
    provider: acme-router-stops_billing
    model: ${UPSTREAM_MODEL}
    streaming: true
    pricing: [{ billable: output_image, unit: image, usd: "0.01" }]
`,
  });
});
afterAll(async () => {
  await gateway.stop();
  await wire[Symbol.asyncDispose]();
});
beforeEach(() => {
  // An endpoint that failed in one test must not be skipped in the next.
  gateway.running.deps.gateway.health = plainHealth();
});

/** Every form in which a server has been seen to put an error into an answer with status 200. */
const errors: Record<string, () => unknown> = {
  'an error with its number': () => ({ error: { message: words, type: 'BadRequestError', code: 400 } }),
  'an error that is a text': () => ({ error: words, error_type: 'validation' }),
  'an error of the messages format': () => ({
    type: 'error',
    error: { type: 'invalid_request_error', message: words },
  }),
  'an error of the responses format': () => ({
    type: 'error',
    code: 'invalid_prompt',
    message: words,
    param: null,
  }),
  'a response that failed': () => ({
    type: 'response.failed',
    response: {
      id: 'resp_1',
      object: 'response',
      status: 'failed',
      output: [],
      error: { code: 'invalid_prompt', message: words },
    },
  }),
  'a flat record': () => ({ object: 'error', message: words, type: 'BadRequestError', code: 400 }),
  'message, type and code': () => ({ message: words, type: 'BadRequestError', code: 400 }),
  'a message alone': () => ({ message: words }),
  'names in capitals': () => ({ Error: { Message: words }, Message: words }),
  'a detail': () => ({ detail: words }),
  'a list of details': () => ({ detail: [{ loc: ['body', 'n'], msg: words }] }),
  'a list of errors beside no success': () => ({
    success: false,
    errors: [{ code: 400, message: words }],
    result: {},
  }),
  'a list': () => [{ error: { code: 400, message: words, status: 'INVALID_ARGUMENT' } }],
  'a status and a msg': () => ({ status: 'error', msg: words }),
  'a fault': () => ({ fault: { faultstring: words } }),
  'an exception by its name': () => ({ internalServerException: { message: words } }),
  'an exception': () => ({ exception: words, status: 500 }),
  'errorMessage and errorCode': () => ({ errorCode: 400, errorMessage: words }),
  'a chunk that ends with an error': () => ({
    id: 'c-1',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: {}, finish_reason: 'error' }],
    error: { message: words, code: 400 },
  }),
  'a choice with an error': () => ({
    id: 'c-1',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: { content: '' }, error: { message: words, code: 400 } }],
  }),
  'a choice with an error that is a text': () => ({
    id: 'c-1',
    choices: [
      { index: 0, delta: { content: '' }, message: { content: '' }, finish_reason: null, error: words },
    ],
  }),
  'a stop with an error': () => ({
    type: 'message_delta',
    delta: { stop_reason: 'error', error: { type: 'api_error', message: words } },
    usage: { output_tokens: 1 },
  }),
  'a text': () => words,
};

const good: Record<FormatName, string[]> = {
  chat: [
    'data: {"id":"c-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"}}]}',
    'data: {"id":"c-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":" there"}}]}',
  ],
  responses: [
    'event: response.created\ndata: {"type":"response.created","response":{"id":"resp_1","object":"response","status":"in_progress","output":[]}}',
    'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"Hi"}',
  ],
  messages: [
    'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}',
    'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}',
  ],
};

const DELTA_NAMES: Record<FormatName, string> = {
  chat: 'message',
  responses: 'response.output_text.delta',
  messages: 'content_block_delta',
};

/** In which format a provider of this kind is asked by a caller of that one. */
function spokenBy(kind: string, format: FormatName): FormatName {
  if (kind === 'messages') return 'messages';
  if (kind === 'chat') return 'chat';
  if (kind === 'responses') return format === 'responses' ? 'responses' : 'chat';
  return format;
}

const stream = (...events: string[]): WireAnswer => ({
  headers: { 'content-type': 'text/event-stream', 'x-generation-id': `gen-${KEY}` },
  body: events.map((event) => `${event}\n\n`).join(''),
});

function expectNothingOf(text: string, headers: Headers): void {
  const all = [
    text.replaceAll(gateway.baseUrl, ''),
    ...[...headers].map(([name, value]) => `${name}: ${value}`),
  ]
    .join('\n')
    .toLowerCase();
  for (const secret of [
    KEY,
    host,
    '127.0.0.1',
    UPSTREAM_MODEL,
    'llama-3.1',
    'acme',
    '/opt',
    'server.py',
    ':30000',
    'fd12',
  ])
    expect(all).not.toContain(secret.toLowerCase());
}

/** The error as the caller reads it, wherever it stands in an answer. */
function messageIn(text: string): string {
  const found = [...text.matchAll(/"message":("(?:[^"\\]|\\.){0,4000}")/g)].map(([, json]) =>
    JSON.parse(json ?? '""'),
  );
  return found.join('\n');
}

async function ask(format: FormatName, model: string, streamed: boolean) {
  const agent = await gateway.newAgent();
  const res = await gateway.post(requestIn(format, model, { stream: streamed }), {
    path: pathOf(format),
    agent,
  });
  const text = await res.text();
  return { res, text };
}

describe.each(FORMATS)('a caller of %s', (format) => {
  describe.each(['chat', 'responses', 'messages'])('whose provider speaks %s', (kind) => {
    const spoken = spokenBy(kind, format);
    const begun = good[spoken];
    const model = `shown/${kind}-stops_billing`;

    it.each([422, 500])('reads nothing of the provider in a refusal with %i', async (status) => {
      for (const [at, [name, error]] of Object.entries(errors).entries()) {
        wire.answer({ status, body: JSON.stringify(error()) });
        const { res, text } = await ask(format, model, at % 2 === 0);
        expect(res.status, name).toBeGreaterThanOrEqual(400);
        expectNothingOf(text, res.headers);
        if (status === 422 && SHOWN.has(name)) expect(messageIn(text), name).toContain(USEFUL);
      }
    });

    it.each(Object.entries(errors))(
      'reads nothing of the provider in %s with status 200',
      async (_, error) => {
        for (const cancel of ['stops_billing', 'bills_full']) {
          const headers = { 'content-type': 'application/json', 'x-generation-id': `gen-${KEY}` };
          wire.answer({ headers, body: JSON.stringify(error()) });
          const { res, text } = await ask(format, `shown/${kind}-${cancel}`, cancel === 'stops_billing');
          expect(res.status).toBeGreaterThanOrEqual(400);
          expectNothingOf(text, res.headers);
        }
      },
    );

    it.each(Object.entries(errors))(
      'reads nothing of the provider in a stream with %s',
      async (name, error) => {
        const data = JSON.stringify(error());
        const cases = [
          { before: begun, eventName: '', streamed: true },
          { before: begun, eventName: 'error', streamed: true },
          { before: begun, eventName: DELTA_NAMES[spoken], streamed: true },
          { before: [], eventName: '', streamed: true },
          { before: begun, eventName: '', streamed: false },
        ];
        for (const { before, eventName, streamed } of cases) {
          const failed = eventName === '' ? `data: ${data}` : `event: ${eventName}\ndata: ${data}`;
          wire.answer(stream(...before, failed));
          const { res, text } = await ask(format, model, streamed);
          expectNothingOf(text, res.headers);
          // The useful part of the sentence still reaches the caller.
          if (name === 'an error with its number') expect(messageIn(text)).toContain(USEFUL);
        }
      },
    );
  });
});

/** Shapes whose words are known to be the provider's sentence. */
const SHOWN: ReadonlySet<string> = new Set([
  'an error with its number',
  'a flat record',
  'message, type and code',
  'a detail',
  'a list of details',
  'a list',
]);

describe('a caller of images', () => {
  async function askForImages(streamed: boolean) {
    const agent = await gateway.newAgent();
    const body = { model: 'shown/paint', prompt: 'x', stream: streamed, response_format: 'b64_json' };
    const res = await gateway.post(body, { path: '/images', agent });
    return { res, text: await res.text() };
  }

  it.each(Object.entries(errors))('reads nothing of the provider in %s', async (name, error) => {
    for (const streamed of [false, true]) {
      for (const status of [422, 200]) {
        wire.answer({ status, body: JSON.stringify(error()) });
        const { res, text } = await askForImages(streamed);
        expect(res.status).toBeGreaterThanOrEqual(400);
        expectNothingOf(text, res.headers);
        if (status === 422 && SHOWN.has(name)) expect(messageIn(text), name).toContain(USEFUL);
      }
      wire.answer(stream(`data: ${JSON.stringify(error())}`));
      const { res, text } = await askForImages(streamed);
      expectNothingOf(text, res.headers);
    }
  });
});

// The shared cluster has a worker of its own, which asks another provider for videos.
const describeEmbedded = sharedCluster() === undefined ? describe : () => undefined;
describeEmbedded('a caller of videos', () => {
  it('reads nothing of the provider in a job that failed, neither at once nor later', async () => {
    const agent = await gateway.newAgent();
    wire.answer({ status: 422, body: JSON.stringify({ error: { message: words, code: 'invalid_input' } }) });
    const order = { model: 'shown/clip', prompt: 'x', duration: 4, resolution: '720p', aspect_ratio: '16:9' };
    const ordered = await gateway.post(order, { path: '/videos', agent });
    const text = await ordered.text();
    expect(ordered.status, text).toBe(202);
    const { id } = JSON.parse(text);
    const read = async () => {
      const res = await fetch(`${gateway.baseUrl}/videos/${id}`, {
        headers: { authorization: `Bearer ${agent.key}` },
      });
      const job = await res.text();
      expectNothingOf(job, res.headers);
      return JSON.parse(job);
    };
    const { ledger } = gateway.running.deps.store;
    await expect.poll(() => ledger.readVideo(agent.agentId, id)).not.toMatchObject({ end: null });
    expect(await read()).toMatchObject({ status: 'failed', error: { code: 'invalid_input' } });
  });
});
