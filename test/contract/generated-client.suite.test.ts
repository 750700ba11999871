import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { apiError } from '../../api/contract/errors.ts';
import { chatExamples } from '../../api/contract/examples.ts';
import { blocksOf } from '../docs/blocks-of.ts';
import { documentText, type EdgeApp, startEdge } from '../support/edge-app.ts';
import { type GeneratedClient, generateClient } from '../support/generated-client.ts';

/** A user's program on the generated types. It does not compile when the document types something wrongly. */
const program = `
import createClient from 'openapi-fetch';
import type { components, paths } from './faregate.d.ts';

const [, , baseUrl, key] = process.argv;
const headers = { authorization: \`Bearer \${key}\` };
const client = createClient<paths, 'application/json'>({ baseUrl: \`\${baseUrl}/v1\`, headers });

const balance = await client.GET('/balance');
if (balance.data === undefined) throw new Error(balance.error.error.code);
const spendable: string = balance.data.spendable_usd;
const soonest: string | undefined = balance.data.expiring[0]?.at;
const status: string = balance.data.agent.status;
const remaining: string | undefined = balance.data.key_limit?.remaining_usd;

type Message = components['schemas']['ChatMessage'];
const message: Message = { role: 'user', content: [{ type: 'text', text: 'hi' }] };
const call = await client.POST('/chat/completions', {
  body: { model: 'acme/small', messages: [message], max_tokens: 5, tools: [], top_k: 3 },
});
const text: string | null | undefined = call.data?.choices[0]?.message.content;
const cost: number | undefined = call.data?.usage.cost;

const refused = await client.POST('/chat/completions', { body: { model: 'refuse', messages: [message] } });
const code: string | undefined = refused.error?.error.code;
const param: string | null | undefined = refused.error?.error.param;

const stream = await client.POST('/chat/completions', {
  body: { model: 'acme/small', messages: [message], stream: true },
  parseAs: 'stream',
});
const events = await new Response(stream.data).text();
const callId = call.response.headers.get('x-service-call-id');
const seen = { spendable, soonest, status, remaining, text, cost, code, param, events, callId };
console.log(JSON.stringify(seen));
`;

/** Must not compile: wrong types in named fields. */
const wrongProgram = `
import createClient from 'openapi-fetch';
import type { paths } from './faregate.d.ts';
const client = createClient<paths>({ baseUrl: 'http://x' });
await client.POST('/chat/completions', { body: { model: 5, messages: [] } });
await client.POST('/chat/completions', { body: { model: 'a' } });
await client.GET('/nothing');
`;

let client: GeneratedClient;
let edge: EdgeApp;

beforeAll(async () => {
  edge = await startEdge({
    useCases: {
      async runCall(_endpoint, { body, res, callId }) {
        const request = JSON.parse(String(body));
        if (request.model === 'refuse') return apiError('unknown_model', { param: 'model' });
        const head = { 'x-service-call-id': String(callId) };
        if (request.stream === true) {
          res.writeHead(200, { ...head, 'content-type': 'text/event-stream' });
          res.end(chatExamples.events.map((data) => `data: ${data}\n\n`).join(''));
        } else {
          res.writeHead(200, { ...head, 'content-type': 'application/json' });
          // What a later release may add does not break an old client.
          res.end(JSON.stringify({ ...chatExamples.answer, added_later: { a: 1 } }));
        }
        return null;
      },
    },
  });
  client = await generateClient(documentText);
  await client.write('program.ts', program);
  await client.write('wrong.ts', wrongProgram);
});

afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await edge.stop();
});

test('a TypeScript client generated from the document compiles and calls a running gateway', async () => {
  expect(await client.compile('program.ts')).toBe('');
  expect(JSON.parse(await client.run('program.ts', edge.url, edge.key))).toEqual({
    spendable: '4.9877',
    soonest: '2026-11-29T00:00:00.000Z',
    status: 'active',
    remaining: '8.4877',
    text: 'Hello!',
    cost: 0.0000023,
    code: 'unknown_model',
    param: 'model',
    events: chatExamples.events.map((data) => `data: ${data}\n\n`).join(''),
    callId: expect.stringMatching(/^\d+$/),
  });
});

test('types alone, as openapi/README.md says, read a balance', async () => {
  const block = blocksOf('openapi/README.md', 'ts').find((each) => each.includes('openapi-fetch')) ?? '';
  await client.write('readme.ts', block.replace('http://127.0.0.1:8080', edge.url));
  expect(await client.compile('readme.ts')).toBe('');
  vi.stubEnv('FAREGATE_KEY', edge.key);
  expect(await client.run('readme.ts')).toBe('4.9877\n');
  vi.unstubAllEnvs();
});

test('the generated types refuse wrong fields, missing fields and unknown paths', async () => {
  const output = await client.compile('wrong.ts');
  expect(output.match(/wrong\.ts\(\d+/g)?.map((each) => each.slice(-1))).toEqual(['5', '6', '7']);
});
