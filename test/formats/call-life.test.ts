import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FORMAT_PATHS } from '#core/catalog/catalog.ts';
import { chargedUsd, type TestGateway } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { failing } from '../support/provider-failures.ts';
import { modelOf, PROVIDER_KINDS, startFormatGateway } from './format-gateway.ts';
import { eventsIn, FORMATS, post, requestIn, ruleFor } from './requests.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startFormatGateway();
});
afterAll(() => gateway.stop());
afterEach(() => gateway.provider.reset());

/** Wherever a format shows it. */
function costIn(body: Record<string, unknown>): unknown {
  const usage = body.usage ?? Reflect.get(Object(body.response), 'usage');
  return Reflect.get(Object(usage), 'cost');
}

describe.each(FORMATS)('a call by %s', (format) => {
  describe.each(PROVIDER_KINDS)('to a provider that speaks %s', (kind) => {
    it.each([false, true])(
      'shows what it is charged, and the headers of every call (stream: %s)',
      async (stream) => {
        const agent = await gateway.newAgent();
        const res = await post(gateway, { kind, format, stream, agent });
        const text = await res.text();
        const shown = stream
          ? eventsIn(text)
              .map(costIn)
              .filter((cost) => cost !== undefined)
          : [costIn(JSON.parse(text))];
        const view = await gateway.settled(agent);
        expect(shown).toEqual([Number(chargedUsd(view))]);
        expect(view.chargedNanoUsd).toBeGreaterThan(0n);
        const id = res.headers.get('x-service-call-id');
        expect(id).toMatch(/^\d+$/);
        expect(res.headers.get('x-request-id')).toBe(id);
        expect(res.headers.get('request-id')).toBe(format === 'messages' ? id : null);
        expect(res.headers.get('x-generation-id')).toMatch(/^gen-/);
        expect(res.headers.get('content-type')).toBe(
          stream ? 'text/event-stream; charset=utf-8' : 'application/json',
        );
        expect((await gateway.calls(agent))[0]).toMatchObject({
          outcome: 'ok',
          call: { endpoint: FORMAT_PATHS[format], stream },
        });
      },
    );

    it('is charged for what the provider wrote when its caller hangs up, as `stopped`', async () => {
      const agent = await gateway.newAgent();
      gateway.provider.next(ruleFor(kind, format, { chunks: 40, gate: 'rest', gateAt: 4_000 }));
      const hangUp = new AbortController();
      const res = await post(gateway, { kind, format, stream: true, agent, signal: hangUp.signal });
      await gateway.provider.reached('rest');
      hangUp.abort();
      await res.text().catch(() => '');
      const view = await gateway.settled(agent);
      expect(view.chargedNanoUsd).toBeGreaterThan(0n);
      expect((await gateway.calls(agent))[0]?.outcome).toBe('stopped');
    });

    it.each([false, true])(
      'falls back to another model before its first byte (stream: %s)',
      async (stream) => {
        const agent = await gateway.newAgent();
        gateway.provider.next(ruleFor(kind, format, failing(503)));
        const models = { stream, models: [modelOf['all formats']] };
        const res = await gateway.post(requestIn(format, modelOf[kind], models), {
          path: pathOf(format),
          agent,
        });
        expect(res.status).toBe(200);
        expect(await res.text()).toContain(`"${modelOf['all formats']}"`);
        expect((await gateway.settled(agent)).chargedNanoUsd).toBeGreaterThan(0n);
      },
    );
  });
});

describe('inline data', () => {
  const data = 'data:image/png;base64,AAAA';
  const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' };
  it.each([
    ['chat', { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: data } }] }] }],
    ['responses', { input: [{ role: 'user', content: [{ type: 'input_image', image_url: data }] }] }],
    ['responses', { input: [{ role: 'user', content: [{ type: 'input_file', file_data: data }] }] }],
    ['messages', { messages: [{ role: 'user', content: [{ type: 'image', source }] }] }],
    ['messages', { messages: [{ role: 'user', content: [{ type: 'document', source }] }] }],
    [
      'messages',
      {
        messages: [
          { role: 'user', content: [{ type: 'tool_result', content: [{ type: 'image', source }] }] },
        ],
      },
    ],
  ] as const)('is refused by %s with a sentence that points to uploads', async (format, more) => {
    const res = await gateway.post(requestIn(format, modelOf['all formats'], more), { path: pathOf(format) });
    const { error } = JSON.parse(await res.text());
    expect([res.status, error.code]).toEqual([400, 'invalid_request']);
    expect(error.message).toContain('POST /uploads');
  });
});

describe('what would reach state that is not the caller’s is refused by name', () => {
  it.each([
    ['responses', 'previous_response_id', { previous_response_id: 'resp_1' }],
    ['responses', 'conversation', { conversation: 'conv_1' }],
    ['responses', 'prompt', { prompt: { id: 'p' } }],
    ['responses', 'background', { background: true }],
    ['responses', 'store', { store: true }],
    ['responses', 'input[0]', { input: [{ type: 'item_reference', id: 'x' }] }],
    ['responses', 'reasoning.mode', { reasoning: { mode: 'pro' } }],
    ['messages', 'container', { container: 'c' }],
    ['messages', 'inference_geo', { inference_geo: 'us' }],
    ['messages', 'speed', { speed: 'fast' }],
    [
      'messages',
      'messages[0].content[0].source',
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] }] },
    ],
  ] as const)('%s: %s', async (format, param, more) => {
    const agent = await gateway.newAgent();
    const res = await gateway.post(requestIn(format, modelOf['all formats'], more), {
      path: pathOf(format),
      agent,
    });
    const { error } = JSON.parse(await res.text());
    expect([res.status, error.code]).toEqual([400, 'invalid_request']);
    expect(error.message).toContain(param.split(/[.[]/, 1)[0]);
    expect((await gateway.view(agent)).holds).toEqual([]);
  });

  it.each([
    ['responses', 'file_search', { tools: [{ type: 'file_search', vector_store_ids: ['v'] }] }],
    ['responses', 'code_interpreter', { tools: [{ type: 'code_interpreter' }] }],
    ['responses', 'shell', { tools: [{ type: 'shell', environment: { type: 'container_auto' } }] }],
    ['responses', 'mcp', { input: [{ type: 'additional_tools', tools: [{ type: 'mcp' }] }] }],
    ['responses', 'image_generation', { tool_choice: { type: 'image_generation' } }],
    ['messages', 'code_execution_20250825', { tools: [{ type: 'code_execution_20250825', name: 'x' }] }],
    ['messages', 'memory_20250818', { tools: [{ type: 'memory_20250818', name: 'memory' }] }],
    [
      'messages',
      'code_execution_20250825',
      { tools: [{ name: 'f', allowed_callers: ['code_execution_20250825'] }] },
    ],
    ['messages', 'mcp_servers', { mcp_servers: [{ url: 'https://example.com' }] }],
  ] as const)('%s: the tool %s', async (format, tool, more) => {
    const res = await gateway.post(requestIn(format, modelOf['all formats'], more), { path: pathOf(format) });
    const { error } = JSON.parse(await res.text());
    expect([res.status, error.code]).toEqual([400, 'tool_not_served']);
    expect(error.message).toContain(tool);
  });
});

it('a field that the provider has no words for is named in a header, and so is a hint', async () => {
  const body = requestIn('chat', modelOf['messages only'], { seed: 7, user: 'me' });
  const res = await gateway.post(body);
  expect([res.status, res.headers.get('x-ignored-fields')]).toEqual([200, 'seed, user']);
  await res.text();
});

it('a field whose name has no end is told by its beginning', async () => {
  const strict = { [`seed${'x'.repeat(5_000)}`]: 7, provider: { require_parameters: true } };
  const res = await gateway.post(requestIn('chat', modelOf['messages only'], strict));
  const { error } = JSON.parse(await res.text());
  expect([res.status, error.code]).toEqual([404, 'no_provider']);
  expect(error.param.length).toBeLessThan(300);
  expect(error.message.length).toBeLessThan(800);
});

it('it is refused before anything is held where the caller wants every field heeded', async () => {
  const agent = await gateway.newAgent();
  const strict = { seed: 7, provider: { require_parameters: true } };
  const res = await gateway.post(requestIn('chat', modelOf['messages only'], strict), { agent });
  const { error } = JSON.parse(await res.text());
  expect([res.status, error]).toMatchObject([404, { code: 'no_provider', param: 'seed' }]);
  expect(error.message).toContain('`seed` (7)');
  expect((await gateway.view(agent)).holds).toEqual([]);
  // The price of a call of another test may still be asked for.
  expect(gateway.provider.posts()).toEqual([]);
});
