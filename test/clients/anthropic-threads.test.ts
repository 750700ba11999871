import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startWireProvider, type WireProvider } from '../support/wire-provider.ts';

/* The official SDK keeps conversations of its tool loop at the server, unless the server says that it has none. */

const USAGE = { input_tokens: 3, output_tokens: 2 };
const answerOf = (content: object[], reason: string): string =>
  JSON.stringify({
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content },
    ...{ stop_reason: reason, stop_sequence: null, usage: USAGE },
  });
const CALL = answerOf([{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }], 'tool_use');
const DONE = answerOf([{ type: 'text', text: 'It is 42.' }], 'end_turn');

let wire: WireProvider;
let gateway: TestGateway;
beforeAll(async () => {
  wire = await startWireProvider();
  gateway = await startTestGateway({
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers:
  - { id: own, kind: anthropic, cancel: bills_full, baseUrl: "${wire.url}/v1" }
models:
  - id: own/small
    contextLength: 32768
    maxOutputTokens: 4096
    endpoints: [{ provider: own, model: m, pricing: { prompt: "0.000001", completion: "0.000004" } }]
`,
  });
});
beforeEach(() => {
  wire.requests.length = 0;
});
afterAll(async () => {
  await gateway.stop();
  await wire[Symbol.asyncDispose]();
});

it('a tool loop of the unchanged SDK sends its whole conversation, and no thread reaches the provider', async () => {
  wire.answer({ body: CALL });
  const client = new Anthropic({
    baseURL: gateway.baseUrl.replace(/\/v1$/, ''),
    apiKey: gateway.agent.key,
    maxRetries: 0,
  });
  const message = await client.beta.messages.toolRunner({
    ...{ model: 'own/small', max_tokens: 100 },
    messages: [{ role: 'user', content: 'Look.' }],
    tools: [
      {
        ...{ name: 'look', description: 'Looks.', input_schema: { type: 'object' as const } },
        parse: (input: unknown) => input,
        run: () => {
          wire.answer({ body: DONE });
          return '42';
        },
      },
    ],
  });
  expect(message.content).toMatchObject([{ type: 'text', text: 'It is 42.' }]);
  const sent = wire.requests.map(({ body }) => body);
  expect(sent.map(({ messages }) => (messages as unknown[]).length)).toEqual([1, 3]);
  for (const body of sent) expect(body).not.toHaveProperty('thread');
});

it('a thread that begins is left out and named', async () => {
  wire.answer({ body: DONE });
  const body = { model: 'own/small', max_tokens: 100, messages: [{ role: 'user', content: 'x' }] };
  const response = await gateway.post({ ...body, thread: { type: 'create' } }, { path: '/messages' });
  expect([response.status, response.headers.get('x-ignored-fields')]).toEqual([200, 'thread']);
});

it.each([
  { type: 'continue', previous_message_id: 'msg_1' },
  { type: 'create', id: 'x' },
  { type: 'fork' },
  'x',
  7,
])(
  'a thread that others may have written is refused with the code that the SDK acts on: %j',
  async (thread) => {
    const body = { model: 'own/small', max_tokens: 100, messages: [{ role: 'user', content: 'x' }], thread };
    const response = await gateway.post(body, { path: '/messages' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: 'invalid_request', details: { error_code: 'thread_not_found' } },
    });
    expect(wire.requests).toEqual([]);
  },
);
