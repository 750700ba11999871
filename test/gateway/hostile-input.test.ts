import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hello, MODEL, startTestGateway, type TestAgent, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let agent: TestAgent;
beforeAll(async () => {
  gateway = await startTestGateway({
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
limits: { callsPerMinute: 60000, burst: 10000 }
providers: [{ id: sim, kind: simulator, baseUrl: PROVIDER_URL }]
`,
  });
  agent = await gateway.newAgent();
});
afterAll(() => gateway.stop());

/** Whatever was sent: nothing is held, nothing was charged, and the next honest call works. */
afterEach(async () => {
  const view = await gateway.view(agent);
  expect(view.holds).toEqual([]);
  expect(view.chargedNanoUsd).toBe(0n);
  expect(gateway.running.deps.gateway.openCalls.size).toBe(0);
  expect(gateway.running.deps.gateway.capacity.heldNanoUsd).toBe(0n);
  expect((await gateway.post(hello())).status).toBe(200);
});

async function refusal(body: unknown, headers: Record<string, string> = {}) {
  const res = await gateway.post(body, { agent, headers });
  const { error } = JSON.parse(await res.text());
  return { status: res.status, code: error.code, param: error.param, message: error.message };
}

const message = '"messages":[{"role":"user","content":"hi"}]';
const nested = (depth: number) =>
  `{"model":"${MODEL}",${message},"x":${'['.repeat(depth)}${']'.repeat(depth)}}`;
const manyKeys = (count: number) =>
  `{"model":"${MODEL}",${message},"x":{${Array.from({ length: count }, (_, i) => `"k${i}":1`).join(',')}}}`;

describe('a body that is no call', () => {
  it.each<[string, string | Uint8Array, number, string]>([
    ['is empty', '', 400, 'invalid_request'],
    ['is not JSON', 'hello', 400, 'invalid_request'],
    ['is half of a JSON text', `{"model":"${MODEL}"`, 400, 'invalid_request'],
    ['is a list', '[]', 400, 'invalid_request'],
    ['is null', 'null', 400, 'invalid_request'],
    ['is a number', '1', 400, 'invalid_request'],
    ['is not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), 400, 'invalid_request'],
    ['nests 10,000 deep', nested(10_000), 400, 'invalid_request'],
    ['has 100,000 keys', manyKeys(100_000), 400, 'invalid_request'],
    [
      'says its model twice',
      `{"model":"${MODEL}","model":"faregate-sim/large",${message}}`,
      400,
      'invalid_request',
    ],
    [
      'says its model twice, once escaped',
      `{"model":"${MODEL}","mod\\u0065l":"faregate-sim/large",${message}}`,
      400,
      'invalid_request',
    ],
    [
      'repeats a key inside a message',
      `{"model":"${MODEL}","messages":[{"role":"user","content":"a","content":"b"}]}`,
      400,
      'invalid_request',
    ],
    [
      'caps its answer twice',
      `{"model":"${MODEL}",${message},"max_tokens":1,"max_tokens":99999}`,
      400,
      'invalid_request',
    ],
    [
      'has a long key before many colons',
      `{"${'k'.repeat(2 * 1024 * 1024)}"${':'.repeat(99_999)}1}`,
      400,
      'invalid_request',
    ],
    [
      'is larger than 4 MB',
      `{"model":"${MODEL}",${message},"x":"${'y'.repeat(4 * 1024 * 1024)}"}`,
      413,
      'request_too_large',
    ],
  ])('%s', async (_, body, status, code) => {
    expect(await refusal(body)).toMatchObject({ status, code });
  });

  it('with __proto__ as a key pollutes nothing', async () => {
    expect(await refusal(`{"__proto__":{"model":"${MODEL}"},${message}}`)).toMatchObject({ status: 400 });
    expect(({} as Record<string, unknown>).model).toBeUndefined();
  });

  it('that is compressed is refused, not guessed at', async () => {
    expect(await refusal(JSON.stringify(hello()), { 'content-encoding': 'gzip' })).toMatchObject({
      status: 400,
      code: 'invalid_request',
    });
  });
});

describe('a field of the wrong kind is refused by its name', () => {
  const wrong: Record<string, unknown[]> = {
    model: [null, 1, '', [], {}],
    messages: [
      null,
      'hi',
      {},
      [],
      [1],
      [null],
      [{}],
      [{ role: 'king', content: 'x' }],
      [{ role: 'user', content: 5 }],
    ],
    max_tokens: [0, -1, 2 ** 60, '5', 1.5, [], {}],
    max_completion_tokens: [0, -1, 2 ** 60, '5', 1.5],
    n: [0, -1, 1e9, '1', 1.5],
    stream: ['true', 1, 'false', {}],
    stream_options: [true, 'include_usage', []],
    temperature: [-0.1, 2.1, '1', []],
    tools: ['x', {}, [1], [{}], [{ type: 5 }]],
    tool_choice: [5, [], {}],
    response_format: ['json', [], { type: 5 }, { type: 'json_schema' }],
    reasoning: ['high', { effort: 5 }, { effort: 'enormous' }],
    models: ['x', {}, [5], [''], Array(9).fill(MODEL)],
    provider: ['x', { options: { a: 1 } }],
    plugins: ['x', [{}], [{ id: 'fusion' }], [{ id: 'auto-router' }]],
  };
  for (const [field, values] of Object.entries(wrong)) {
    it.each(values.map((value) => [JSON.stringify(value), value]))(`${field}: %s`, async (_, value) => {
      const { status, code, param } = await refusal({ ...hello(), [field]: value });
      expect(status).toBe(400);
      expect(['invalid_request', 'tool_not_served', 'model_not_served']).toContain(code);
      expect(param?.split(/[.[]/)[0]).toBe(field);
    });
  }

  it.each(['max_tokens', 'n', 'stream', 'temperature', 'tools', 'models'])(
    '%s: null counts as absent, as official clients send it',
    async (field) => {
      expect((await gateway.post({ ...hello(), [field]: null })).status).toBe(200);
      await gateway.settled();
    },
  );
});

describe('inline data and links that lead inside', () => {
  const image = (url: unknown) => ({
    model: 'faregate-sim/vision',
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
  });
  it.each([
    'data:image/png;base64,AAAA',
    'http://example.com/a.png',
    'https://127.0.0.1/a.png',
    'https://[::1]/a.png',
    'https://2130706433/a.png',
    'https://localhost/a.png',
    'https://metadata.google.internal/x',
    'https://user:pass@example.com/a.png',
    'https://example.com:8443/a.png',
    'file:///etc/passwd',
    'not a link',
    5,
  ])('%s is refused', async (url) => {
    const { status, code, param } = await refusal(image(url));
    expect({ status, code }).toEqual({ status: 400, code: 'invalid_request' });
    expect(param).toMatch(/^messages\[0\]\.content\[0\]\.image_url/);
  });

  it('a data URL is pointed to uploads', async () => {
    expect((await refusal(image('data:image/png;base64,AAAA'))).message).toContain('POST /uploads');
  });
});

describe('models and tools that are not served', () => {
  it.each([
    ['nobody/knows', 'unknown_model'],
    ['faregate-sim/smal', 'unknown_model'],
    [`${MODEL}:free`, 'model_not_served'],
    [`${MODEL}:batch`, 'model_not_served'],
    [`${MODEL}:online:nitro`, 'unknown_model'],
    [`x${'y'.repeat(5000)}`, 'invalid_request'],
    ['constructor', 'unknown_model'],
    ['__proto__', 'unknown_model'],
  ])('%s: %s', async (model, code) => {
    expect(await refusal(hello({ model }))).toMatchObject({ status: 400, code });
  });

  it('names the model that was meant', async () => {
    expect((await refusal(hello({ model: 'faregate-sim/smal' }))).message).toContain('`faregate-sim/small`');
  });

  it.each(['code_interpreter', 'openrouter:fusion', 'mcp', 'memory_20250818', 'brand_new_tool'])(
    'tool %s',
    async (type) => {
      expect(await refusal(hello({ tools: [{ type }] }))).toMatchObject({
        status: 400,
        code: 'tool_not_served',
      });
    },
  );
});
