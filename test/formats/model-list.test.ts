import { OpenRouter } from '@openrouter/sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ModelList } from '../../api/contract/model-list.ts';
import type { TestGateway } from '../support/gateway.ts';
import { anthropicOf, startFormatGateway } from './format-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startFormatGateway();
});
afterAll(() => gateway.stop());

const list = (headers: Record<string, string> = {}, path = '/models') =>
  fetch(gateway.baseUrl + path, { headers: { 'x-api-key': gateway.agent.key, ...headers } });

const IDS = [
  'acme/all',
  'acme/chat',
  'acme/messages',
  'acme/all-thinks',
  'acme/chat-thinks',
  'acme/messages-thinks',
];

it('the pagers of all official clients read the one list to its end', async () => {
  const byOpenai: string[] = [];
  for await (const model of gateway.openai.models.list()) byOpenai.push(model.id);
  const byAnthropic: string[] = [];
  for await (const model of anthropicOf(gateway, gateway.agent).models.list({ limit: 2 })) {
    expect(Date.parse(model.created_at)).not.toBeNaN();
    byAnthropic.push(model.id);
  }
  expect(byOpenai).toEqual(IDS);
  expect(byAnthropic).toEqual(IDS);
  const openrouter = new OpenRouter({ serverURL: gateway.baseUrl, apiKey: gateway.agent.key });
  const byOpenrouter: string[] = [];
  for await (const page of await openrouter.models.list())
    byOpenrouter.push(...page.result.data.map(({ id }) => id));
  expect(byOpenrouter).toEqual(IDS);
});

it('says what a model is charged by, and nothing of who runs it', async () => {
  const text = await (await list()).text();
  const { data } = ModelList.parse(JSON.parse(text));
  expect(data[1]).toMatchObject({
    id: 'acme/chat',
    owned_by: 'acme',
    context_length: 32_768,
    max_output_tokens: 4_096,
    pricing: { prompt: '0.000000123', completion: '0.000000457' },
  });
  expect(text).not.toMatch(/faregate-sim|127\.0\.0\.1|providerId|upstream/);
});

it('is sent once to a client that says which it has', async () => {
  const first = await list();
  const etag = first.headers.get('etag') ?? '';
  expect(etag).toMatch(/^"[\w-]{22}"$/);
  const text = await first.text();
  for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const again = await list({ 'if-none-match': tag });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
  }
  const other = await list({ 'if-none-match': '"other"' });
  expect([other.status, await other.text()]).toEqual([200, text]);
});

it('needs a key, and has no path below it', async () => {
  expect((await fetch(`${gateway.baseUrl}/models`)).status).toBe(401);
  expect((await list({}, '/models/acme/all')).status).toBe(404);
  expect((await list({}, '/models/count')).status).toBe(404);
});
