import Anthropic from '@anthropic-ai/sdk';
import {
  startTestGateway,
  type TestAgent,
  type TestGateway,
  type TestGatewayOptions,
} from '../support/gateway.ts';

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

interface Written {
  /** Of the provider that speaks all formats. A simulator tells what each answer cost. */
  all?: 'simulator' | 'openai';
  stopped?: boolean;
  /** Lines after everything else. */
  more?: string;
}

/** The three kinds of providers at one address, and each one's models. */
export function formatYaml(baseUrl: string, cancel: string, written: Written = {}): string {
  const { all = 'simulator', stopped = false, more = '' } = written;
  // The server on loopback stands for a vendor's, which fetches images by itself.
  const dialect = (kind: string): string => (kind === 'openai' ? ', dialect: other' : '');
  const provider = (id: string, kind: string, rest = ''): string =>
    `\n  - { id: ${id}, kind: ${kind}, cancel: ${cancel}, stopped: ${stopped}, baseUrl: ${baseUrl}, catalog: none${dialect(kind)}${rest} }`;
  return `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers:${provider('all', all, ', formats: [chat/completions, responses, messages]')}${provider('chat', 'openai')}${provider('messages', 'anthropic')}
models:${model('acme/all', 'all')}${model('acme/chat', 'chat')}${model('acme/messages', 'messages')}
${['all', 'chat', 'messages'].map((id) => model(`acme/${id}-thinks`, id, 'faregate-sim/thinker')).join('')}
${more}
`;
}

/** `cancel`: whether whole answers are streamed from the providers, or passed on. */
export const startFormatGateway = (
  cancel = 'stops_billing',
  written: Written = {},
  options: Omit<TestGatewayOptions, 'yaml'> = {},
): Promise<TestGateway> =>
  startTestGateway({ yaml: formatYaml('PROVIDER_URL', cancel, written), ...options });

export const anthropicOf = (gateway: TestGateway, agent: TestAgent): Anthropic =>
  new Anthropic({ apiKey: agent.key, baseURL: gateway.baseUrl.replace(/\/v1$/, ''), maxRetries: 0 });
