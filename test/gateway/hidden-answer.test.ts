import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { requestIn } from '../formats/requests.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { startWireProvider, type WireProvider } from '../support/wire-provider.ts';

/* A good answer tells no more of its provider than a refusal does: neither in the error of a tool inside it nor in its frame. */

const KEY = 'token-abc123';
const UPSTREAM_MODEL = 'acme-internal/Llama-3.1-70B-Instruct';

let wire: WireProvider;
let gateway: TestGateway;
let words = '';

beforeAll(async () => {
  wire = await startWireProvider();
  const host = new URL(wire.url).host;
  words = `${UPSTREAM_MODEL} at ${wire.url}/v1 (${host}) got Bearer ${KEY}: the page is too large; see /opt/acme/server.py`;
  const keyFile = join(await mkdtemp(join(tmpdir(), 'faregate-hidden-')), 'key');
  await writeFile(keyFile, KEY);
  const provider = (id: string, kind: string, cancel: string): string =>
    `  - { id: ${id}, ${kind}, cancel: ${cancel}, baseUrl: "${wire.url}/v1", apiKeyFile: "${keyFile}" }`;
  const ids = ['chat', 'messages'].flatMap((kind) => [`${kind}-stops_billing`, `${kind}-bills_full`]);
  gateway = await startTestGateway({
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers:
${ids
  .map((id) => {
    const [kind, cancel = ''] = id.split('-');
    const spoken =
      kind === 'chat'
        ? 'kind: openai, dialect: other, formats: [chat/completions, responses]'
        : 'kind: anthropic';
    return provider(`acme-${id}`, spoken, cancel);
  })
  .join('\n')}
models:
${ids.map((id) => `  - { id: shown/${id}, contextLength: 32768, maxOutputTokens: 4096, endpoints: [{ provider: acme-${id}, model: ${UPSTREAM_MODEL}, pricing: { prompt: "0.000001", completion: "0.000004" } }] }`).join('\n')}
`,
  });
});
afterAll(async () => {
  await gateway.stop();
  await wire[Symbol.asyncDispose]();
});

function expectNothingOf(text: string): void {
  for (const secret of [KEY, '127.0.0.1', UPSTREAM_MODEL, 'llama', 'acme', '/opt', 'server.py'])
    expect(text.replaceAll(gateway.baseUrl, '').toLowerCase()).not.toContain(secret.toLowerCase());
}

/** By how the provider answers: as a stream for `stops_billing`, whole for `bills_full`. */
async function ask(format: FormatName, streamed: boolean, answer: { stream: string; whole: string }) {
  const kind = format === 'messages' ? 'messages' : 'chat';
  const seen: string[] = [];
  for (const cancel of streamed ? ['stops_billing'] : ['stops_billing', 'bills_full']) {
    wire.answer(
      cancel === 'stops_billing'
        ? { headers: { 'content-type': 'text/event-stream' }, body: answer.stream }
        : { headers: { 'content-type': 'application/json' }, body: answer.whole },
    );
    const body = requestIn(format, `shown/${kind}-${cancel}`, { stream: streamed });
    const res = await gateway.post(body, { path: pathOf(format), agent: await gateway.newAgent() });
    const text = await res.text();
    expect(res.status, text).toBe(200);
    expect(text).toContain('Hello');
    seen.push(text);
  }
  return seen;
}

const chunk = (delta: object, members: object = {}, more: object = {}): string =>
  `data: ${JSON.stringify({
    id: 'c-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: null, ...more }],
    ...members,
  })}\n\n`;
const chat = (members: object, ofMessage: object = {}) => ({
  stream:
    `${chunk({ role: 'assistant', content: 'Hel' }, members)}${chunk({ content: 'lo' }, members)}${chunk(ofMessage, members)}${chunk({}, members, { finish_reason: 'stop' })}data: [DONE]\n\n`.replace(
      /"Hel"|"lo"/g,
      (piece) => (piece === '"Hel"' ? '"Hello"' : '" there"'),
    ),
  whole: JSON.stringify({
    id: 'c-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      { index: 0, message: { role: 'assistant', content: 'Hello', ...ofMessage }, finish_reason: 'stop' },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    ...members,
  }),
});

const named = (data: { type: string } & Record<string, unknown>): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const text = {
  type: 'message',
  id: 'i',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
};
function responses(items: object[], members: object = {}) {
  const response = (status: string, output: object[]) => ({
    id: 'r-1',
    object: 'response',
    created_at: 1,
    status,
    model: 'm',
    error: null,
    output,
    usage: status === 'completed' ? { input_tokens: 1, output_tokens: 1, total_tokens: 2 } : null,
    ...members,
  });
  const output = [...items, text];
  return {
    stream:
      named({ type: 'response.created', response: response('in_progress', []) }) +
      items.map((item, at) => named({ type: 'response.output_item.done', output_index: at, item })).join('') +
      named({
        type: 'response.output_text.delta',
        item_id: 'i',
        output_index: 1,
        content_index: 0,
        delta: 'Hello',
      }) +
      named({ type: 'response.completed', response: response('completed', output) }),
    whole: JSON.stringify(response('completed', output)),
  };
}

function messages(blocks: object[], members: object = {}) {
  const message = (content: object[], stop: string | null) => ({
    id: 'm-1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content,
    stop_reason: stop,
    usage: { input_tokens: 1, output_tokens: 1 },
    ...members,
  });
  return {
    stream:
      named({ type: 'message_start', message: message([], null) }) +
      [...blocks, { type: 'text', text: 'Hello' }]
        .map(
          (block, index) =>
            named({ type: 'content_block_start', index, content_block: block }) +
            named({ type: 'content_block_stop', index }),
        )
        .join('') +
      named({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } }) +
      named({ type: 'message_stop' }),
    whole: JSON.stringify(message([...blocks, { type: 'text', text: 'Hello' }], 'end_turn')),
  };
}

const FAILED_SEARCH = { type: 'web_search_call', id: 'ws_1', status: 'failed' };

describe.each([true, false])('an answer (streamed: %s)', (streamed) => {
  it.each<[string, FormatName, () => { stream: string; whole: string }]>([
    [
      'a search with an error',
      'responses',
      () => responses([{ ...FAILED_SEARCH, error: { code: 'fetch_failed', message: words } }]),
    ],
    [
      'a search with an error that is a text',
      'responses',
      () => responses([{ ...FAILED_SEARCH, error: words }]),
    ],
    [
      'a list of errors',
      'responses',
      () => responses([{ ...FAILED_SEARCH, errors: [words, { message: words }] }]),
    ],
    [
      'an error in a result',
      'messages',
      () =>
        messages([
          {
            type: 'web_search_tool_result',
            tool_use_id: 'srvtoolu_1',
            content: { type: 'web_search_tool_result_error', error_code: 'unavailable', message: words },
          },
        ]),
    ],
    [
      'an error in a tool’s result',
      'chat',
      () =>
        chat({}, { tool_results: [{ name: 'web_search', error: { code: 'fetch_failed', message: words } }] }),
    ],
    ...['last_error', 'lastError', 'Error', 'errorMessage', 'errors', 'fetch_errors'].map(
      (name): [string, FormatName, () => { stream: string; whole: string }] => [
        `a member ${name} beside the text`,
        'chat',
        () => chat({}, { [name]: words, code: 'fetch_failed' }),
      ],
    ),
    [
      'a result whose type alone tells an error',
      'messages',
      () => messages([{ type: 'web_fetch_tool_result_error', message: words }]),
    ],
  ])('shows of %s what helps, and nothing of the provider', async (_name, format, answer) => {
    for (const shown of await ask(format, streamed, answer())) {
      expectNothingOf(shown);
      expect(shown).toContain('the page is too large');
      expect(shown).toMatch(/fetch_failed|unavailable|error/);
    }
  });

  it.each<[string, FormatName, (members: object) => { stream: string; whole: string }]>([
    ['chat', 'chat', chat],
    ['responses', 'responses', (members) => responses([], members)],
    ['messages', 'messages', (members) => messages([], members)],
  ])('does not tell by its frame who made it: %s', async (_name, format, answer) => {
    const members = {
      id: `gen-${KEY}`,
      model: `/models/${UPSTREAM_MODEL}.gguf`,
      provider: `gpu-1 ${KEY}`,
      system_fingerprint: `build-${new URL(wire.url).host}`,
    };
    for (const shown of await ask(format, streamed, answer(members))) {
      expectNothingOf(shown);
      expect(shown).toMatch(/"id":"[^"]{4,}"/);
      expect(shown).toMatch(/"model":"shown\//);
    }
  });

  it.each<[FormatName, { stream: string; whole: string }]>([
    ['chat', chat({})],
    ['responses', responses([])],
    ['messages', messages([])],
  ])('has the model by its public name, however the provider spells its own: %s', async (format, answer) => {
    const spelled = JSON.stringify(UPSTREAM_MODEL).replaceAll('/', '\\/');
    for (const model of [spelled, `${spelled},"model":"m"`, `"m","model":${spelled}`]) {
      const [stream = '', whole = ''] = [answer.stream, answer.whole].map((text) =>
        text.replaceAll('"model":"m"', `"model":${model}`),
      );
      for (const shown of await ask(format, streamed, { stream, whole }))
        expectNothingOf(shown.replaceAll('\\/', '/'));
    }
  });

  it.each<[FormatName, (members: object) => { stream: string; whole: string }]>([
    ['chat', chat],
    ['responses', (members) => responses([], members)],
    ['messages', (members) => messages([], members)],
  ])('passes the frame of a router as it came, which its clients read: %s', async (format, answer) => {
    const members = { provider: 'Google AI Studio', system_fingerprint: 'vllm-0.11-tp8' };
    for (const shown of await ask(format, streamed, answer(members))) {
      expect(shown).toContain('"provider":"Google AI Studio"');
      expect(shown).toContain('"system_fingerprint":"vllm-0.11-tp8"');
    }
  });

  it('passes what the model wrote for the caller’s tool, errors included', async () => {
    const input = { error: 'see /opt/data/report.csv at 10.0.0.1:8000', n: 1 };
    const block = { type: 'tool_use', id: 'toolu_1', name: 'log', input };
    for (const shown of await ask('messages', streamed, messages([block]))) {
      expect(shown).toContain(JSON.stringify(input));
    }
  });
});
