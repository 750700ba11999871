import { expect, it } from 'vitest';
import type { FetchedImage } from '../../api/inference/linked-images/fetch-image.ts';
import { startTestGateway, until } from '../support/gateway.ts';

it('who hangs up after one provider refused, while the images for the next are fetched, pays nothing: that one was never asked', async () => {
  await using gateway = await startTestGateway({
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1, drainMs: 0 }
providers:
  - { id: linked, kind: openai, dialect: other, baseUrl: PROVIDER_URL }
  - { id: own, kind: openai, dialect: vllm, baseUrl: PROVIDER_URL }
models:
  - id: acme/eyes
    contextLength: 32768
    maxOutputTokens: 4096
    inputModalities: [text, image]
    endpoints:
      - { provider: linked, model: faregate-sim/small, pricing: { prompt: "0.0000001", completion: "0.0000004" } }
      - { provider: own, model: faregate-sim/small, pricing: { prompt: "0.0001", completion: "0.0004" } }
`,
  });
  const { openCalls } = gateway.running.deps.gateway;
  const asked = Promise.withResolvers<void>();
  gateway.running.deps.gateway.fetchImage = () => {
    asked.resolve();
    return new Promise<FetchedImage>(() => {});
  };
  gateway.provider.next({ status: 503 }, { status: 503 });
  const before = await gateway.balance(gateway.agent);
  const content = [{ type: 'image_url', image_url: { url: 'https://images.example.com/cat.png' } }];
  const hangUp = new AbortController();
  const call = gateway
    .post(
      { model: 'acme/eyes', messages: [{ role: 'user', content }] },
      { agent: gateway.agent, signal: hangUp.signal },
    )
    .catch(() => null);
  await asked.promise;
  hangUp.abort();
  await call;
  // The images never come: the hang-up alone ends the call.
  await until(() => openCalls.size === 0);
  expect(await gateway.balance(gateway.agent)).toEqual(before);
});
