import { expect, it } from 'vitest';
import { startTestGateway } from '../support/gateway.ts';
import { startWireProvider } from '../support/wire-provider.ts';

it.each([
  [404, '{"detail":"Not Found"}', 'no_provider', 'baseUrl'],
  [401, '{"error":{"message":"Incorrect API key"}}', 'gateway_unavailable', 'our key'],
  [402, '{"error":{"message":"Insufficient credits"}}', 'gateway_capacity', 'no money'],
])(
  'what only the operator can mend is told to the operator once, and not to callers: %i',
  async (status, body, code, words) => {
    await using wire = await startWireProvider();
    await using gateway = await startTestGateway({
      yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers: [{ id: own, kind: openai, baseUrl: "${wire.url}" }]
models:
  - id: acme/small
    contextLength: 8192
    maxOutputTokens: 1024
    endpoints: [{ provider: own, model: small, pricing: { prompt: "0.000001", completion: "0.000001" } }]
`,
    });
    wire.answer({ status, body });
    const request = { model: 'acme/small', messages: [{ role: 'user', content: 'x' }] };
    for (let call = 0; call < 3; call++) {
      const { error } = JSON.parse(await (await gateway.post(request)).text());
      // A key that is refused, or has no money, is not used by the calls behind it.
      expect(error.code).toBe(call === 0 || status === 404 ? code : 'provider_unavailable');
      expect(error.message).not.toContain(words);
    }
    const told = gateway.logged.filter(({ event }) => event.startsWith('calls of a model fail'));
    expect(told).toHaveLength(1);
    expect(told[0]?.event).toContain(words);
    expect(told[0]?.fields).toEqual({ model: 'acme/small', code });
  },
);
