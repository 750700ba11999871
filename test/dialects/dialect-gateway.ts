import { DIALECT_NAMES } from '../../api/providers/openai/dialects.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startWireProvider, type WireProvider } from '../support/wire-provider.ts';

export interface DialectGateway extends AsyncDisposable {
  gateway: TestGateway;
  wire: WireProvider;
}

/** Dollars per million: 1 for a prompt's token, 0.1 for one from the cache, 4 for an answer's. */
const PRICING = '{ prompt: "0.000001", completion: "0.000004", cacheRead: "0.0000001" }';

export const nanoOf = ({ prompt, cached, completion }: Counted): bigint =>
  BigInt((prompt - cached) * 1_000 + cached * 100 + completion * 4_000);

export interface Counted {
  prompt: number;
  cached: number;
  completion: number;
}

/** `whole`: answers that nobody streams are asked for in one piece. */
export const modelOf = (dialect: string, whole = false): string => `acme/${dialect}${whole ? '-whole' : ''}`;

/** One model a dialect, all at one server that speaks what a test says. */
export async function startDialectGateway(): Promise<DialectGateway> {
  const wire = await startWireProvider();
  const names = [...DIALECT_NAMES, 'anthropic'];
  const all = names.flatMap((name) => [false, true].map((whole) => ({ name, whole })));
  const providers = all.map(({ name, whole }) => {
    const spoken =
      name === 'anthropic'
        ? 'kind: anthropic'
        : `kind: openai, dialect: ${name}, formats: [chat/completions]`;
    const cancel = whole ? 'bills_full' : 'stops_billing';
    return `  - { id: ${name}${whole}, ${spoken}, cancel: ${cancel}, baseUrl: "${wire.url}/v1" }`;
  });
  const models = all.map(
    ({ name, whole }) => `  - id: ${modelOf(name, whole)}
    contextLength: 32768
    maxOutputTokens: 4096
    endpoints: [{ provider: ${name}${whole}, model: vendor-small, pricing: ${PRICING} }]`,
  );
  const gateway = await startTestGateway({
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers:
${providers.join('\n')}
models:
${models.join('\n')}
`,
  });
  return {
    gateway,
    wire,
    async [Symbol.asyncDispose]() {
      await gateway.stop();
      await wire[Symbol.asyncDispose]();
    },
  };
}
