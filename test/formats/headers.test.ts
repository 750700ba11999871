import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { startWireProvider, type WireProvider } from '../support/wire-provider.ts';
import { FORMATS, requestIn } from './requests.ts';

let wire: WireProvider;
let gateway: TestGateway;
beforeAll(async () => {
  wire = await startWireProvider();
  const model = (id: string, provider = id, upstream = 'small') => `
  - id: acme/${id}
    contextLength: 32768
    maxOutputTokens: 4096
    endpoints: [{ provider: ${provider}, model: ${upstream}, pricing: { prompt: "0.000001", completion: "0.000004" } }]`;
  gateway = await startTestGateway({
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers:
  - { id: chat, kind: openai, dialect: other, baseUrl: "${wire.url}/v1" }
  - { id: native, kind: anthropic, baseUrl: "${wire.url}/v1" }
  - { id: both, kind: openai, dialect: other, formats: [chat/completions, messages], baseUrl: "${wire.url}/v1" }
models:${['chat', 'native', 'both'].map((id) => model(id)).join('')}${model('newest', 'native', 'claude-opus-5-5')}
`,
  });
});
afterAll(async () => {
  await gateway.stop();
  await wire[Symbol.asyncDispose]();
});

const INTERLEAVED = 'interleaved-thinking-2025-05-14';
const STRUCTURED = 'structured-outputs-2025-11-13';

/** What reaches the provider of a call's headers. */
async function sentHeaders(format: (typeof FORMATS)[number], model: string, headers: Record<string, string>) {
  wire.answer({ status: 400, body: '{}' });
  await gateway.post(requestIn(format, `acme/${model}`), { path: pathOf(format), headers });
  return wire.requests.at(-1)?.headers ?? {};
}

describe('of a caller’s headers', () => {
  it.each(FORMATS)('none reaches a provider by %s, whatever they are', async (format) => {
    const sent = await sentHeaders(format, 'chat', {
      'x-openrouter-metadata': 'enabled',
      'x-openrouter-cache': 'true',
      'x-session-id': 's',
      'x-forwarded-for': '1.2.3.4',
      'x-stainless-retry-count': '1',
      'openai-organization': 'org-mine',
      'http-referer': 'https://example.com',
      'x-title': 't',
      cookie: 'a=b',
      'idempotency-key': 'k'.repeat(8),
      'anthropic-beta': INTERLEAVED,
      'anthropic-version': '1999-01-01',
      'accept-language': 'de',
      traceparent: '00-1-2-3',
    });
    expect(Object.keys(sent).sort()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
    ]);
  });

  it.each([
    [{ 'anthropic-beta': INTERLEAVED }, INTERLEAVED],
    [{ 'x-anthropic-beta': STRUCTURED }, STRUCTURED],
    [{ 'anthropic-beta': `${STRUCTURED}, ${INTERLEAVED}` }, `${INTERLEAVED},${STRUCTURED}`],
    [{ 'anthropic-beta': INTERLEAVED, 'x-anthropic-beta': STRUCTURED }, `${INTERLEAVED},${STRUCTURED}`],
    [{ 'anthropic-beta': `claude-code-20250219,${INTERLEAVED},mcp-client-2025-04-04` }, INTERLEAVED],
    [{ 'anthropic-beta': `${INTERLEAVED},${INTERLEAVED}` }, INTERLEAVED],
    // As Claude Code sends with the fields of the same names.
    [
      { 'anthropic-beta': 'claude-code-20250219,effort-2025-11-24,context-management-2025-06-27' },
      'context-management-2025-06-27,effort-2025-11-24',
    ],
    [{ 'anthropic-beta': 'compact-2026-01-12,fast-mode-2026-02-01' }, undefined],
    [{ 'anthropic-beta': 'context-1m-2025-08-07' }, undefined],
    [{ 'anthropic-beta': `${INTERLEAVED}-x` }, undefined],
    [{ 'anthropic-beta': '' }, undefined],
  ])('betas of the messages format pass, by a list: %j', async (headers, expected) => {
    for (const model of ['native', 'both']) {
      const sent = await sentHeaders('messages', model, headers);
      expect(sent['anthropic-beta']).toBe(expected);
      expect(sent).not.toHaveProperty('x-anthropic-beta');
      expect(sent['anthropic-version']).toBe('2023-06-01');
    }
  });

  it('the gateway switches on the betas of what it writes itself', async () => {
    const details = [
      { type: 'reasoning.text', text: 'hm', signature: 'c2ln', format: 'anthropic-claude-v1' },
    ];
    const sentAfter = async (answer: object) => {
      wire.answer({ status: 400, body: '{}' });
      const messages = [
        { role: 'user', content: 'x' },
        { role: 'assistant', ...answer },
        { role: 'user', content: 'y' },
      ];
      await gateway.post({ model: 'acme/newest', messages }, { path: pathOf('chat') });
      return wire.requests.at(-1);
    };
    const thought = await sentAfter({ content: 'a', reasoning_details: details });
    expect(thought?.headers['anthropic-beta']).toBe('thinking-binding-controls-2026-08-01');
    expect(thought?.body).toMatchObject({
      thinking: { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } },
    });
    expect((await sentAfter({ content: 'a' }))?.headers).not.toHaveProperty('anthropic-beta');
  });

  it('betas are not sent where the provider is asked in another format', async () => {
    expect(await sentHeaders('messages', 'chat', { 'anthropic-beta': INTERLEAVED })).not.toHaveProperty(
      'anthropic-beta',
    );
    expect(await sentHeaders('chat', 'both', { 'anthropic-beta': INTERLEAVED })).not.toHaveProperty(
      'anthropic-beta',
    );
  });
});

describe('of a provider’s headers', () => {
  it.each(FORMATS)('only its id for the answer reaches a caller by %s', async (format) => {
    const usage = '"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}';
    wire.answer({
      headers: {
        'content-type': 'application/json',
        'x-generation-id': 'gen-1',
        'x-provider-name': 'Vendor',
        'openai-organization': 'ours',
        'openai-processing-ms': '7',
        'x-ratelimit-limit-requests': '5',
        'x-ratelimit-remaining-tokens': '5',
        'anthropic-ratelimit-requests-limit': '5',
        'x-openrouter-cache-status': 'MISS',
        'cf-ray': '1',
        'request-id': 'req_1',
        'x-request-id': 'req_2',
        'set-cookie': 'a=b',
        'access-control-allow-origin': '*',
        'retry-after': '7',
      },
      body: `{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],${usage}}`,
    });
    const res = await gateway.post(requestIn(format, 'acme/chat'), { path: pathOf(format) });
    expect(res.status).toBe(200);
    const ours = format === 'messages' ? ['request-id'] : [];
    expect([...res.headers.keys()].sort()).toEqual(
      [
        'cache-control',
        'connection',
        'content-length',
        'content-type',
        'date',
        'keep-alive',
        ...ours,
        'x-content-type-options',
        'x-generation-id',
        'x-hold-usd',
        'x-request-id',
        'x-service-call-id',
      ].sort(),
    );
    expect(res.headers.get('x-request-id')).toMatch(/^\d+$/);
    await res.text();
  });
});
