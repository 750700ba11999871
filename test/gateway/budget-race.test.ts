import { expect, it } from 'vitest';
import { hello, startTestGateway } from '../support/gateway.ts';

/** A call of it costs a cent, whatever is asked. */
const MODEL = 'acme/cent';
const YAML = `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
limits: { callsPerMinute: 60000, burst: 60000, runningCalls: 1000 }
providers: [{ id: own, kind: openai, baseUrl: PROVIDER_URL }]
models:
  - id: ${MODEL}
    contextLength: 32768
    maxOutputTokens: 4096
    endpoints:
      - { provider: own, model: faregate-sim/small, pricing: { prompt: "0", completion: "0", request: "0.01" } }
`;

// A cell of docs/comparison.md.
it('of 200 calls at once that cost a cent each, an agent with ten cents is let in with ten, and charged ten cents', async () => {
  await using gateway = await startTestGateway({ yaml: YAML, creditUsd: '0.10' });
  const answers = await Promise.all(
    Array.from({ length: 200 }, async () => {
      const answer = await gateway.post(hello({ model: MODEL }));
      const { usage, error } = (await answer.json()) as {
        usage?: { cost: number };
        error?: { code: string };
      };
      return `${answer.status} ${usage?.cost ?? error?.code}`;
    }),
  );
  const counts = Object.groupBy(answers, (answer) => answer);
  expect(Object.fromEntries(Object.entries(counts).map(([answer, all]) => [answer, all?.length]))).toEqual({
    '200 0.01': 10,
    '402 insufficient_balance': 190,
  });
  expect((await gateway.settled()).chargedNanoUsd).toBe(100_000_000n);
  expect(await gateway.balance()).toMatchObject({ balance_usd: '0' });
  expect(gateway.provider.posts()).toHaveLength(10);
});
