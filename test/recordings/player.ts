import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FormatName } from '#core/catalog/catalog.ts';
import { isRecord } from '#core/is-record.ts';
import { parseJson } from '#core/parse-json.ts';
import { recordOf } from '../../api/inference/formats/values.ts';
import { startTestGateway, type TestAgent, type TestGateway } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import type { Recording, Tokens } from './recording.ts';

/** In dollars a million million tokens, so nano-dollars a token. */
const PRICES = { prompt: 123n, cached: 11n, written: 155n, completion: 457n } as const;

export function priceOf({ prompt, cached = 0, written = 0, completion }: Tokens): bigint {
  return (
    BigInt(prompt - cached - written) * PRICES.prompt +
    BigInt(cached) * PRICES.cached +
    BigInt(written) * PRICES.written +
    BigInt(completion) * PRICES.completion
  );
}

/** Providers by format and name, each as an operator configures it, with one model each. */
const endpoints = {
  ...Object.fromEntries(
    (
      [
        'other',
        'openai',
        'groq',
        'together',
        'fireworks',
        'deepseek',
        'mistral',
        'google',
        'ollama',
        'vllm',
        'sglang',
        'self-hosted',
      ] as const
    ).map((dialect) => [
      `chat/${dialect}`,
      { config: `kind: openai, dialect: ${dialect}, formats: [chat/completions]`, model: 'test-model' },
    ]),
  ),
  'chat/openrouter': { config: 'kind: openrouter, formats: [chat/completions]', model: 'test-model' },
  'responses/openai': {
    config: 'kind: openai, dialect: openai, formats: [chat/completions, responses]',
    model: 'test-model',
  },
  'messages/anthropic': { config: 'kind: anthropic', model: 'claude-test-4-9' },
};

/** `stops_billing`: asked for a stream even by callers that want none. `bills_full`: asked as the caller asks. */
type Cancel = 'stops_billing' | 'bills_full';

const yaml = (baseUrl: string): string => {
  const usd = (nano: bigint): string => `"0.${String(nano).padStart(9, '0')}"`;
  const pricing = `prompt: ${usd(PRICES.prompt)}, completion: ${usd(PRICES.completion)}, cacheRead: ${usd(PRICES.cached)}, cacheWrite: ${usd(PRICES.written)}`;
  const each = Object.entries(endpoints).flatMap(([name, { config, model }]) =>
    (['stops_billing', 'bills_full'] as const).map((cancel) => {
      const id = `${name.replace('/', '-')}-${cancel.replace('_', '-')}`;
      return {
        provider: `\n  - { id: ${id}, ${config}, catalog: none, cancel: ${cancel}, baseUrl: "${baseUrl}" }`,
        model: `\n  - { id: "${name}/${cancel}", contextLength: 65536, maxOutputTokens: 4096, endpoints: [{ provider: ${id}, model: ${model}, pricing: { ${pricing} } }] }`,
      };
    }),
  );
  return `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
limits: { callsPerMinute: 60000, burst: 60000 }
providers:${each.map(({ provider }) => provider).join('')}
models:${each.map(({ model }) => model).join('')}
`;
};

/** How an answer comes to a caller. */
export interface Way {
  name: string;
  isStreamed: boolean;
  cancel: Cancel;
  /** The provider sends its whole answer, whatever it was asked for. */
  sendsWhole: boolean;
}

export const WAYS: readonly Way[] = [
  { name: 'a stream', isStreamed: true, cancel: 'stops_billing', sendsWhole: false },
  { name: 'JSON of a stream', isStreamed: false, cancel: 'stops_billing', sendsWhole: false },
  { name: 'JSON of JSON', isStreamed: false, cancel: 'bills_full', sendsWhole: true },
  { name: 'a stream of JSON', isStreamed: true, cancel: 'bills_full', sendsWhole: true },
];

export interface Played {
  status: number;
  text: string;
  ignoredFields: string | null;
  chargedNanoUsd: bigint;
  /** Bodies that providers were sent. */
  sent: string[];
}

/** A gateway in front of a provider that answers with recordings. */
export interface Player extends AsyncDisposable {
  /** @param body Of a caller of this format. */
  play(recording: Recording, way: Way, format: FormatName, body: object): Promise<Played>;
}

export async function startPlayer(): Promise<Player> {
  let answer: { recording: Recording; sendsWhole: boolean } | null = null;
  const sent: string[] = [];
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    sent.push(body);
    if (answer === null) return void res.writeHead(500).end();
    const { recording, sendsWhole } = answer;
    const type = sendsWhole ? 'application/json' : 'text/event-stream';
    res.writeHead(200, { 'content-type': type });
    const model = recordOf(parseJson(body)).model;
    const written = sendsWhole ? JSON.stringify(recording.whole) : streamOf(recording);
    // Most vendors name the model as they were asked for it; a name of a version of it passes as it is.
    res.end(
      recording.namesVersion ? written : written.replaceAll(MODEL_MEMBER, `"model":${JSON.stringify(model)}`),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const gateway: TestGateway = await startTestGateway({
    yaml: yaml(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    creditUsd: '1000',
  });
  const agent: TestAgent = gateway.agent;
  let charged = (await gateway.view(agent)).chargedNanoUsd;

  return {
    async play(recording, { cancel, isStreamed, sendsWhole }, format, body) {
      answer = { recording, sendsWhole };
      sent.length = 0;
      const options = isStreamed && format === 'chat' ? { stream_options: { include_usage: true } } : {};
      const response = await gateway.post(
        {
          model: `${recording.format}/${recording.provider}/${cancel}`,
          stream: isStreamed,
          ...options,
          ...body,
        },
        { path: pathOf(format), agent },
      );
      const text = await response.text();
      const before = charged;
      charged = (await gateway.settled(agent)).chargedNanoUsd;
      return {
        status: response.status,
        text,
        ignoredFields: response.headers.get('x-ignored-fields'),
        chargedNanoUsd: charged - before,
        sent: [...sent],
      };
    },
    async [Symbol.asyncDispose]() {
      await gateway.stop();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** The name of a model, in a chunk, a response or a message. */
const MODEL_MEMBER = /"model":"[^"]+"/g;

/** The events as bytes, in the way of the format. */
function streamOf({ format, stream }: Recording): string {
  const events = stream.map((event) => {
    const name = format !== 'chat' && isRecord(event) ? `event: ${event.type}\n` : '';
    return `${name}data: ${JSON.stringify(event)}\n\n`;
  });
  return events.join('') + (format === 'chat' ? 'data: [DONE]\n\n' : '');
}

/** The JSON of every event of a stream, in order. */
export const eventsOf = (text: string): Record<string, unknown>[] =>
  [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => JSON.parse(data));

/** In which formats a caller may ask for this recording: a provider of responses is asked by callers of responses alone. */
export const formatsFor = ({ format }: Recording): readonly FormatName[] =>
  format === 'responses' ? ['responses'] : ['chat', 'responses', 'messages'];
