import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { parseAttoUsd } from '#core/money.ts';
import { startTestProvider } from '../support/provider.ts';

interface Row {
  id: string;
  pricing: Record<string, unknown> & { prompt: string; completion: string; overrides?: object[] };
  context_length: number;
  architecture: { input_modalities: string[]; tokenizer: string };
  reasoning?: object;
  expiration_date: string | null;
  top_provider: { max_completion_tokens: number | null };
}

async function read<Body>(url: string): Promise<{ status: number; body: Body }> {
  const res = await fetch(url);
  return { status: res.status, body: JSON.parse(await res.text()) };
}

interface ModelsBody {
  data: Row[];
  total_count: number;
}
interface EndpointsBody {
  data: { endpoints: { tag: string; pricing: { prompt: string } }[] };
}
interface ErrorBody {
  error: object;
}

test('the model list has a row for every filter of an importer', async () => {
  await using provider = await startTestProvider();
  const { body } = await read<ModelsBody>(`${provider.baseUrl}/models`);
  const rows = body.data;
  const row = (id: string): Row | undefined => rows.find((each) => each.id === `faregate-sim/${id}`);
  expect(body.total_count).toBe(rows.length);
  expect(row('small')).toMatchObject({ context_length: 32_768, pricing: { prompt: '0.0000001' } });
  expect(row('long')?.pricing.overrides).toHaveLength(1);
  expect(row('long')?.top_provider.max_completion_tokens).toBeNull();
  expect(row('thinker')).toHaveProperty('reasoning');
  expect(row('vision')?.architecture.input_modalities).toContain('image');
  expect(row('small:free')?.pricing).toMatchObject({ prompt: '0', completion: '0' });
  expect(row('small:batch')).toBeDefined();
  expect(row('auto')).toMatchObject({ pricing: { prompt: '-1' }, architecture: { tokenizer: 'Router' } });
  expect(Date.parse(row('retired')?.expiration_date ?? '')).toBeLessThan(Date.now());
});

test('the openai package pages through the list', async () => {
  await using provider = await startTestProvider();
  const ids = [];
  for await (const model of new OpenAI({ baseURL: provider.baseUrl, apiKey: 'x' }).models.list())
    ids.push(model.id);
  expect(ids).toContain('faregate-sim/small');
});

test("a model's endpoints may be dearer than its row", async () => {
  await using provider = await startTestProvider();
  const { body } = await read<EndpointsBody>(`${provider.baseUrl}/models/faregate-sim/large/endpoints`);
  const prices = body.data.endpoints.map((endpoint) => parseAttoUsd(endpoint.pricing.prompt));
  expect(prices).toEqual([2_000_000_000_000n, 3_000_000_000_000n]);
  expect(body.data.endpoints.map((endpoint) => endpoint.tag)).toEqual(['sim-cloud', 'sim-fast/priority']);
});

test.each([
  '/models/faregate-sim/none/endpoints',
  '/models/%zz/%zz/endpoints',
  '/embeddings',
  '/generation?id=gen-1',
  '/generation',
  '',
])('GET %s is 404 in the shape of OpenRouter', async (path) => {
  await using provider = await startTestProvider();
  const { status, body } = await read<ErrorBody>(`${provider.baseUrl}${path}`);
  expect(status).toBe(404);
  expect(body.error).toMatchObject({ code: 404, metadata: { error_type: 'not_found' } });
});

const post = async (url: string, body: string, contentType = 'application/json') =>
  await fetch(url, { method: 'POST', body, headers: { 'content-type': contentType } });

test('another process scripts, releases and reads the bill over HTTP', async () => {
  await using provider = await startTestProvider();
  const base = `http://127.0.0.1:${provider.port}`;
  const rules = [
    { gate: 'shut', promptTokens: 10, completionTokens: 0 },
    { status: 503, error: {} },
  ];
  expect((await post(`${base}/_script`, JSON.stringify(rules))).status).toBe(200);

  const body = JSON.stringify({ model: 'faregate-sim/small', messages: [{ role: 'user', content: 'Hi' }] });
  const call = post(`${provider.baseUrl}/chat/completions`, body);
  await provider.reached('shut');
  expect((await post(`${base}/_release`, '{"gate":"shut"}')).status).toBe(200);
  expect((await call).status).toBe(200);
  expect((await post(`${provider.baseUrl}/chat/completions`, body)).status).toBe(503);

  const bills = await (await fetch(`${base}/_billed`)).json();
  expect(bills).toMatchObject({ totalUsd: '0.000001', data: [{ costUsd: '0.000001', costNanoUsd: '1000' }] });
  // The control calls are no requests to the provider.
  expect(provider.requests()).toHaveLength(2);
});

test.each([
  ['{"cutsAt":3}', 'application/json', 400],
  ['not JSON', 'application/json', 400],
  ['{}', 'text/plain', 415],
])('the script %s as %s is refused', async (body, contentType, status) => {
  await using provider = await startTestProvider();
  expect((await post(`http://127.0.0.1:${provider.port}/_script`, body, contentType)).status).toBe(status);
});
