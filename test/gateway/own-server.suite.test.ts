import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chargedUsd, readEvents, startTestGateway, type TestGateway, usd } from '../support/gateway.ts';

/*
 * Whole sentences of another vendor's server, written here: no simulator runs in this process. The upstream is any
 * OpenAI-compatible server; it tells tokens and no cost, so the operator's table prices the call.
 */
let upstream: ReturnType<typeof createServer>;
let gateway: TestGateway;
const seen: { path: string; headers: IncomingMessage['headers']; body: Record<string, unknown> }[] = [];

async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk);
  const body = JSON.parse(Buffer.concat(chunks).toString());
  seen.push({ path: req.url ?? '', headers: req.headers, body });
  const usage = {
    prompt_tokens: 1000,
    completion_tokens: 50,
    total_tokens: 1050,
    prompt_tokens_details: { cached_tokens: 200 },
  };
  const base = { id: 'chatcmpl-7', created: 1_790_000_000, model: 'small-2026' };
  if (body.stream !== true) {
    res.setHeader('content-type', 'application/json');
    const choices = [
      { index: 0, message: { role: 'assistant', content: 'own server' }, finish_reason: 'stop' },
    ];
    res.end(JSON.stringify({ ...base, object: 'chat.completion', choices, usage }));
    return;
  }
  res.setHeader('content-type', 'text/event-stream');
  if (body.seed === 13) {
    res.end('data: [DONE]\n\n');
    return;
  }
  const chunk = (delta: object, finish_reason: string | null, rest: object) =>
    res.write(
      `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }], ...rest })}\n\n`,
    );
  chunk({ role: 'assistant', content: '' }, null, { usage: null });
  chunk({ content: 'own server' }, 'stop', { usage: null });
  res.write(`data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices: [], usage })}\n\n`);
  res.end('data: [DONE]\n\n');
}

beforeAll(async () => {
  upstream = createServer((req, res) => void serve(req, res));
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const { port } = upstream.address() as AddressInfo;
  gateway = await startTestGateway({
    provider: Object.assign(Object.create(null), { baseUrl: `http://127.0.0.1:${port}/v1` }),
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers:
  - { id: vllm, kind: openai, dialect: other, baseUrl: PROVIDER_URL, priceFactor: "1.1" }
models:
  - id: acme/small
    name: Acme Small
    contextLength: 32768
    maxOutputTokens: 4096
    inputModalities: [text, image]
    endpoints:
      - { provider: vllm, model: small-2026, pricing: { prompt: "0.0000001", completion: "0.0000004", cacheRead: "0.00000005", request: "0" } }
`,
  });
});
afterAll(async () => {
  await gateway.stop();
  await new Promise((resolve) => upstream.close(resolve));
});

const body = (extra: object = {}) => ({
  model: 'acme/small',
  messages: [{ role: 'user' as const, content: 'hi' }],
  ...extra,
});
// (800 × 0.1 + 200 × 0.05 + 50 × 0.4) µ$ × 1.1
const COST_USD = '0.000121';

describe('a configuration of one OpenAI-compatible provider', () => {
  it('answers JSON, priced by the operator’s table with the margin in it', async () => {
    const agent = await gateway.newAgent();
    const answer = await agent.openai.chat.completions.create(body());
    expect(answer.choices[0]?.message.content).toBe('own server');
    expect(answer.usage).toMatchObject({ prompt_tokens: 1000, cost: Number(COST_USD) });
    expect(chargedUsd(await gateway.settled(agent))).toBe(COST_USD);
  });

  it('names the model as the caller does, in JSON and in every chunk', async () => {
    expect((await gateway.openai.chat.completions.create(body())).model).toBe('acme/small');
    const events = await readEvents(
      await gateway.post(body({ stream: true, stream_options: { include_usage: true } })),
    );
    for (const event of events.slice(0, -1)) expect(JSON.parse(event).model).toBe('acme/small');
    expect(JSON.parse(events.at(-2) ?? '').usage.cost).toBe(Number(COST_USD));
  });

  it('sends the server its own model name, a cap, and a wish for usage; no router’s fields', async () => {
    await gateway.post(body({ stream: true, provider: { sort: 'price' }, reasoning: { effort: 'low' } }));
    const sent = seen.at(-1);
    expect(sent?.path).toBe('/v1/chat/completions');
    expect(sent?.body).toMatchObject({
      model: 'small-2026',
      max_tokens: 4096,
      stream_options: { include_usage: true },
      reasoning_effort: 'low',
    });
    for (const field of ['provider', 'models', 'reasoning', 'max_completion_tokens'])
      expect(sent?.body).not.toHaveProperty(field);
    expect(sent?.headers.authorization).toBeUndefined();
  });

  it('holds the worst case of the table, and charges above zero but below it', async () => {
    const res = await gateway.post(body());
    expect(usd(res.headers.get('x-hold-usd') ?? '')).toBeGreaterThan(usd(COST_USD));
  });

  it('charges nothing for a stream in which nothing came, and says so', async () => {
    const agent = await gateway.newAgent();
    const answer = await gateway.post(body({ stream: true, seed: 13 }), { agent });
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ error: { code: 'provider_error' } });
    expect((await gateway.settled(agent)).chargedNanoUsd).toBe(0n);
  });
});
