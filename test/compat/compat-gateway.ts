import { startTestGateway, type TestAgent, type TestGateway } from '../support/gateway.ts';

/** One model by three kinds of provider: each way through the gateway is walked, native and translated. */
export const MODEL_KINDS = ['native', 'chat-only', 'messages-only'] as const;
export type ModelKind = (typeof MODEL_KINDS)[number];

export const modelIdOf = (kind: ModelKind): string => `acme/${kind}`;

/** The same model, reasoning before it acts. */
export const thinkerIdOf = (kind: ModelKind): string => `acme/${kind}-thinks`;

/** The model that calls the tools it is offered (`api/simulator/agent-model.ts`). */
const AGENT_MODEL = 'faregate-sim/agent';
const THINKER_MODEL = 'faregate-sim/agent-thinker';

const PROVIDERS: Readonly<Record<ModelKind, string>> = {
  native: 'kind: simulator, formats: [chat/completions, responses, messages]',
  'chat-only': 'kind: openai, dialect: other',
  'messages-only': 'kind: anthropic',
};

const model = (id: string, kind: ModelKind, upstream = AGENT_MODEL): string => `
  - id: ${id}
    contextLength: 262144
    maxOutputTokens: 32768
    inputModalities: [text, image]
    endpoints:
      - { provider: ${kind}, model: ${upstream}, pricing: { prompt: "0.0000002", completion: "0.0000008" } }`;

const modelsOf = (kind: ModelKind): string =>
  model(modelIdOf(kind), kind) + model(thinkerIdOf(kind), kind, THINKER_MODEL);

const compatYaml = `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
limits: { callsPerMinute: 10000, burst: 1000, runningCalls: 64 }
media: { inline: store }
providers:${MODEL_KINDS.map((kind) => `\n  - { id: ${kind}, ${PROVIDERS[kind]}, baseUrl: PROVIDER_URL, catalog: none }`).join('')}
models:${MODEL_KINDS.map(modelsOf).join('')}
`;

export const startCompatGateway = (): Promise<TestGateway> =>
  startTestGateway({ yaml: compatYaml, creditUsd: '1000' });

/** An account must have lost what its calls cost, and nothing may still be held. Returns what is wrong. */
export async function findMoneyFault(gateway: TestGateway, agent: TestAgent): Promise<string | null> {
  const { chargedNanoUsd } = await gateway.settled(agent);
  const { history } = gateway.running.deps.store;
  const calls = await history.list({ agentId: agent.agentId, limit: CALLS_MAX });
  if (calls === 'unavailable') return 'The history of calls is not available.';
  const cost = calls.reduce((sum, call) => sum + call.chargedNanoUsd, 0n);
  return chargedNanoUsd === cost ? null : `${chargedNanoUsd} n$ were charged, but the calls cost ${cost} n$.`;
}
const CALLS_MAX = 100_000;
