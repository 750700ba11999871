import Anthropic from '@anthropic-ai/sdk';
import { startTestGateway, type TestAgent, type TestGateway } from '../support/gateway.ts';

/** One model by three kinds of providers: each format is spoken natively by two of them and translated for one. */
export const PROVIDER_KINDS = ['all formats', 'chat only', 'messages only'] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

export const modelOf: Readonly<Record<ProviderKind, string>> = {
  'all formats': 'acme/all',
  'chat only': 'acme/chat',
  'messages only': 'acme/messages',
};

const model = (id: string, provider: string, upstream = 'faregate-sim/small'): string => `
  - id: ${id}
    contextLength: 32768
    maxOutputTokens: 4096
    inputModalities: [text, image]
    endpoints:
      - { provider: ${provider}, model: ${upstream}, pricing: { prompt: "0.000000123", completion: "0.000000457" } }`;

/** `cancel`: whether whole answers are streamed from the providers, or passed on. */
export const startFormatGateway = (cancel = 'stops_billing'): Promise<TestGateway> =>
  startTestGateway({
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers:
  - { id: all, kind: simulator, cancel: ${cancel}, baseUrl: PROVIDER_URL, catalog: none }
  - { id: chat, kind: openai, cancel: ${cancel}, baseUrl: PROVIDER_URL }
  - { id: messages, kind: anthropic, cancel: ${cancel}, baseUrl: PROVIDER_URL }
models:${model('acme/all', 'all')}${model('acme/chat', 'chat')}${model('acme/messages', 'messages')}
${['all', 'chat', 'messages'].map((id) => model(`acme/${id}-thinks`, id, 'faregate-sim/thinker')).join('')}
`,
  });

export const anthropicOf = (gateway: TestGateway, agent: TestAgent): Anthropic =>
  new Anthropic({ apiKey: agent.key, baseURL: gateway.baseUrl.replace(/\/v1$/, ''), maxRetries: 0 });
