import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FormatName, ProviderCancel } from '#core/catalog/catalog.ts';
import { formatAttoUsd } from '#core/money.ts';
import type { UpstreamPools } from '../../api/inference/upstream/upstream-pools.ts';
import type { UpstreamRequest } from '../../api/inference/upstream/upstream-request.ts';
import { requestIn } from '../formats/requests.ts';
import { wires } from '../formats/wires.ts';
import {
  startTestGateway,
  type TestAgent,
  type TestGateway,
  type TestGatewayOptions,
  until,
} from './gateway.ts';
import { formatAt, pathOf } from './path-of.ts';
import { sharedCluster } from './shared-cluster.ts';

/*
 * Callers who hang up, and one provider behind four kinds of settings. It writes an answer of `CHUNKS` texts chunk by chunk as
 * the test wants, notes when its connection is closed, and keeps a record of what it bills, as routers do.
 */

export const CHUNKS = 12;
export const PROMPT_TOKENS = 5;
/** By four bytes a token. */
export const CHUNK_TOKENS = 8;
const TEXT = 'four byte tokens of a text here ';
const PROMPT_ATTO = 123_000_000_000n;
const COMPLETION_ATTO = 457_000_000_000n;

/** A setting of the provider; the formats that it does not name are translated. */
export const KINDS = ['openrouter', 'simulator', 'openai', 'openai, all formats', 'anthropic'] as const;
export type Kind = (typeof KINDS)[number];

/** Those whose provider keeps a record of each answer, by its id. */
export const keepsRecords = (kind: Kind): boolean => kind === 'openrouter' || kind === 'simulator';

const ALL = 'formats: [chat/completions, responses, messages]';
/** A cluster's worker knows the first two by these ids. */
const PROVIDERS: Readonly<Record<Kind, { id: string; kind: string; formats: string }>> = {
  openrouter: { id: 'all', kind: 'openrouter', formats: ALL },
  simulator: { id: 'sim', kind: 'simulator', formats: ALL },
  openai: { id: 'chat', kind: 'openai', formats: 'formats: [chat/completions]' },
  'openai, all formats': { id: 'plain', kind: 'openai', formats: ALL },
  anthropic: { id: 'claude', kind: 'anthropic', formats: 'formats: [messages]' },
};

export const modelOf = (kind: Kind): string => `acme/${PROVIDERS[kind].id}`;

export const costAtto = (chunks: number): bigint =>
  BigInt(PROMPT_TOKENS) * PROMPT_ATTO + BigInt(chunks * CHUNK_TOKENS) * COMPLETION_ATTO;
/** Rounded up, as the gateway rounds. */
export const costNanoUsd = (chunks: number): bigint => (costAtto(chunks) + 999_999_999n) / 1_000_000_000n;

/** One answer, as the provider sees it. */
export class WrittenAnswer {
  readonly id: string;
  readonly format: FormatName;
  readonly isStream: boolean;
  chunks = 0;
  bytes = 0;
  isWhole = false;
  closedAtMs: number | null = null;
  readonly closed: Promise<void>;
  readonly #res: ServerResponse;
  #head = false;

  constructor(id: string, format: FormatName, isStream: boolean, res: ServerResponse) {
    this.id = id;
    this.format = format;
    this.isStream = isStream;
    this.#res = res;
    this.closed = new Promise((resolve) => {
      res.once('close', () => {
        this.closedAtMs = performance.now();
        resolve();
      });
    });
  }

  /** Goes on until so many chunks are written. */
  async writeTo(chunks: number): Promise<void> {
    const wire = wires[this.format];
    if (!this.#head) {
      this.#head = true;
      this.#res.writeHead(200, { 'content-type': 'text/event-stream', 'x-generation-id': this.id });
      // A text of nothing shows how long the frame around a text is.
      await this.write(wire.start(this.id) + wire.textStart + wire.text(''));
    }
    while (this.chunks < chunks) {
      this.chunks++;
      await this.write(wire.text(TEXT));
    }
  }

  /** Answers by a status in the place of an answer. */
  refuse(status: number): void {
    this.#res.writeHead(status, { 'content-type': 'application/json' });
    this.#res.end(`{"error":{"code":${status},"message":"Not now."}}`);
  }

  write(text: string): Promise<void> {
    this.bytes += Buffer.byteLength(text);
    return new Promise((resolve) => void this.#res.write(text, () => resolve()));
  }

  /** The rest, its usage and its end; or the whole in one piece, where no stream was asked for. */
  async finish(): Promise<void> {
    const wire = wires[this.format];
    if (this.isStream) await this.writeTo(CHUNKS);
    this.chunks = CHUNKS;
    this.isWhole = true;
    if (this.isStream) this.#res.end(wire.end(this.usage()));
    else {
      this.#res.writeHead(200, { 'content-type': 'application/json', 'x-generation-id': this.id });
      this.#res.end(wire.json(TEXT.repeat(CHUNKS), this.usage()));
    }
  }

  usage(): string {
    const completion = this.chunks * CHUNK_TOKENS;
    const cost = `"cost":${formatAttoUsd(costAtto(this.chunks))}`;
    return this.format === 'chat'
      ? `{"prompt_tokens":${PROMPT_TOKENS},"completion_tokens":${completion},"total_tokens":${PROMPT_TOKENS + completion},${cost}}`
      : `{"input_tokens":${PROMPT_TOKENS},"output_tokens":${completion},"total_tokens":${PROMPT_TOKENS + completion},${cost}}`;
  }
}

export class HangUpProvider {
  readonly answers: WrittenAnswer[] = [];
  /** False: the router answers 404 for every id. */
  keepsRecords = true;
  baseUrl = '';
  readonly #server: Server;

  constructor() {
    this.#server = createServer((req, res) => this.#serve(req, res));
  }

  async listen(): Promise<void> {
    // A cluster's worker asks for prices there.
    const port = sharedCluster()?.providerPort ?? 0;
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
    this.baseUrl = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/api/v1`;
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  #serve(req: IncomingMessage, res: ServerResponse): void {
    const path = (req.url ?? '').replace('/api/v1', '');
    if (req.method === 'GET') {
      this.#record(path, res);
      return;
    }
    const format = formatAt(path);
    const pieces: Buffer[] = [];
    req.on('data', (piece: Buffer) => pieces.push(piece));
    req.on('end', () => {
      const { stream } = JSON.parse(Buffer.concat(pieces).toString());
      const id = `gen-1790000000-${String(this.answers.length).padStart(20, 'a')}`;
      this.answers.push(new WrittenAnswer(id, format, stream === true, res));
    });
  }

  #record(path: string, res: ServerResponse): void {
    const id = path.startsWith('/generation?id=') ? path.slice('/generation?id='.length) : null;
    const answer = this.answers.find((each) => each.id === id);
    if (answer === undefined || !this.keepsRecords) {
      res.writeHead(404).end('{"error":{"code":404,"message":"Not found"}}');
      return;
    }
    const cost = formatAttoUsd(costAtto(answer.chunks));
    const tokens = `"native_tokens_prompt":${PROMPT_TOKENS},"native_tokens_completion":${answer.chunks * CHUNK_TOKENS}`;
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(`{"data":{"total_cost":${cost},${tokens}}}`);
  }
}

export interface HangUpWorld extends AsyncDisposable {
  provider: HangUpProvider;
  gateway: TestGateway;
  /** Starts a call and resolves once the provider has its request whole. */
  call(kind: Kind, format: FormatName, options: CallOptions): Promise<RunningRequest>;
}

export interface CallOptions {
  stream: boolean;
  agent: TestAgent;
  more?: object;
}

export interface RunningRequest {
  answer: WrittenAnswer;
  upstream: UpstreamRequest;
  /** Resolves when the gateway has read all that the provider wrote. */
  read(): Promise<void>;
  /** Closes the caller's connection; answers when. */
  hangUp(): number;
  /** What the caller was answered; `null` after a hang-up. */
  response: Promise<Response | null>;
}

/** Keeps every request to a provider, so that a test knows how far its answer has been read. */
function watchPools(pools: UpstreamPools): UpstreamRequest[] {
  const requests: UpstreamRequest[] = [];
  const post = pools.post.bind(pools);
  pools.post = (...args) => {
    const request = post(...args);
    requests.push(request);
    return request;
  };
  return requests;
}

const settings = (baseUrl: string, cancel: ProviderCancel): string => {
  const all = Object.values(PROVIDERS);
  const providers = all.map(
    ({ id, kind, formats }) =>
      `  - { id: ${id}, kind: ${kind}, cancel: ${cancel}, baseUrl: "${baseUrl}", catalog: none, ${formats} }`,
  );
  const models = all.map(
    ({ id }) =>
      `  - { id: acme/${id}, contextLength: 32768, maxOutputTokens: 4096, endpoints: [{ provider: ${id}, model: m, pricing: { prompt: "0.000000123", completion: "0.000000457" } }] }`,
  );
  return `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
limits: { callsPerMinute: 60000, burst: 60000 }
providers:
${providers.join('\n')}
models:
${models.join('\n')}
`;
};

export async function startHangUpWorld(
  cancel: ProviderCancel,
  clock?: TestGatewayOptions['clock'],
): Promise<HangUpWorld> {
  const provider = new HangUpProvider();
  await provider.listen();
  const gateway = await startTestGateway({
    yaml: settings(provider.baseUrl, cancel),
    ...(clock === undefined ? {} : { clock }),
  });
  const requests = watchPools(gateway.running.deps.gateway.upstreams);

  async function call(kind: Kind, format: FormatName, options: CallOptions): Promise<RunningRequest> {
    const { stream, agent, more = {} } = options;
    const asked = provider.answers.length;
    const abort = new AbortController();
    const body = requestIn(format, modelOf(kind), { stream, ...more });
    const response = gateway
      .post(body, { path: pathOf(format), agent, signal: abort.signal })
      .catch(() => null);
    // A body that nobody reads would hold the provider back.
    void response.then((res) => res?.text()).catch(() => null);
    await until(() => provider.answers.length > asked);
    const answer = provider.answers.at(-1);
    const upstream = requests.at(-1);
    if (answer === undefined || upstream === undefined) throw new Error('nothing was asked');
    return {
      answer,
      upstream,
      response,
      read: () => until(() => upstream.bytesReceived >= answer.bytes),
      hangUp() {
        const atMs = performance.now();
        abort.abort();
        return atMs;
      },
    };
  }

  return {
    provider,
    gateway,
    call,
    async [Symbol.asyncDispose]() {
      await gateway.stop();
      await provider.close();
    },
  };
}
