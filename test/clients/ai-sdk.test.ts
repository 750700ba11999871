import { createOpenAI } from '@ai-sdk/openai';
import { generateText } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modelOf, PROVIDER_KINDS, startFormatGateway } from '../formats/format-gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { aiSdkClients } from './ai-sdk.ts';
import { testClient } from './scenarios.ts';

for (const client of aiSdkClients) testClient(client);

describe('AI SDK with @ai-sdk/openai, by responses: a conversation of two turns', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startFormatGateway();
  });
  afterAll(() => gateway?.stop());

  async function twoTurns(model: string, store: boolean | undefined): Promise<string> {
    const { key } = await gateway.newAgent({ creditUsd: '1' });
    const faregate = createOpenAI({ baseURL: gateway.baseUrl, apiKey: key });
    const common = {
      model: faregate(model),
      maxRetries: 0,
      ...(store === undefined ? {} : { providerOptions: { openai: { store } } }),
    };
    const first = await generateText({ ...common, prompt: 'one' });
    const messages = [
      { role: 'user' as const, content: 'one' },
      ...first.response.messages,
      { role: 'user' as const, content: 'two' },
    ];
    return (await generateText({ ...common, messages })).text;
  }

  it.each(PROVIDER_KINDS)('goes on without anything stored, as the README says: %s', async (kind) => {
    expect(await twoTurns(modelOf[kind], false)).toContain('two');
  });

  it('says how, where the SDK refers to what it takes for stored', async () => {
    await expect(twoTurns(modelOf['all formats'], undefined)).rejects.toThrow(
      /`input\[1\]` refers to an item.*`store: false`/,
    );
  });
});
