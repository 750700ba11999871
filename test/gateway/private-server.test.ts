import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startWireProvider, type WireProvider } from '../support/wire-provider.ts';

const PRICING = '{ prompt: "0.000001", completion: "0.000004" }';
const ANSWER = JSON.stringify({
  id: 'c-1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
});

let wire: WireProvider;
let gateway: TestGateway;
beforeAll(async () => {
  wire = await startWireProvider();
  wire.answer({ body: ANSWER });
  gateway = await startTestGateway({
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers:
  - { id: unnamed, kind: openai, cancel: bills_full, baseUrl: "${wire.url}/v1" }
  - { id: named, kind: openai, dialect: other, cancel: bills_full, baseUrl: "${wire.url}/v1" }
models:
  - { id: own/careful, contextLength: 32768, maxOutputTokens: 4096, inputModalities: [text, image], endpoints: [{ provider: unnamed, model: m, pricing: ${PRICING} }] }
  - { id: own/open, contextLength: 32768, maxOutputTokens: 4096, inputModalities: [text, image], endpoints: [{ provider: named, model: m, pricing: ${PRICING} }] }
`,
  });
});
afterAll(async () => {
  await gateway.stop();
  await wire[Symbol.asyncDispose]();
});

const messages = [{ role: 'user', content: 'Hello' }];

async function ask(model: string, extra: object) {
  const asked = wire.requests.length;
  const agent = await gateway.newAgent();
  const res = await gateway.post({ model, messages, ...extra }, { agent });
  return {
    status: res.status,
    text: await res.text(),
    ignored: res.headers.get('x-ignored-fields'),
    sent: wire.requests.slice(asked).map(({ body }) => body),
  };
}

describe('a server on a private address that names no dialect', () => {
  it.each([
    'api_base',
    'base_url',
    'api_key',
    'user_config',
    'mock_response',
    'safety_model',
    'model_info',
    'num_retries',
    'id_slot',
  ])('is never sent %s, and the answer names the field that was left out', async (field) => {
    const { status, ignored, sent } = await ask('own/careful', { [field]: 'x' });
    expect([status, ignored]).toEqual([200, field]);
    expect(sent).toHaveLength(1);
    expect(sent[0]).not.toHaveProperty(field);
  });

  it.each(['fallbacks', 'extra_body'])('is not asked where %s would change what is sent', async (field) => {
    const { text, sent } = await ask('own/careful', { [field]: 'x' });
    expect(sent).toEqual([]);
    expect(JSON.parse(text).error.message).toContain(field);
  });

  it('is sent what is known to be harmless', async () => {
    const { status, sent } = await ask('own/careful', { temperature: 0.5, top_k: 3, seed: 7 });
    expect(status).toBe(200);
    expect(sent).toMatchObject([{ temperature: 0.5, top_k: 3, seed: 7 }]);
  });

  it('is sent no link, whose name only a name server could tell to be private', async () => {
    const url = 'https://looks-public.example.com/cat.png';
    const content = [{ type: 'image_url', image_url: { url } }];
    const { sent } = await ask('own/careful', { messages: [{ role: 'user', content }] });
    expect(JSON.stringify(sent)).not.toContain(url);
  });

  it('is sent every field once the operator has written `dialect: other`', async () => {
    const { status, sent } = await ask('own/open', { safety_model: 'x', news_of_tomorrow: 1 });
    expect(status).toBe(200);
    expect(sent).toMatchObject([{ safety_model: 'x', news_of_tomorrow: 1 }]);
  });
});
