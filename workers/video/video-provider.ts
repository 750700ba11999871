import { Client, type Dispatcher, Pool } from 'undici';
import type { Provider } from '#core/catalog/catalog.ts';
import { preparedRequest, preparedUntil } from '#core/catalog/prepared-request.ts';
import type { ProviderRequest } from '#core/catalog/provider-kind.ts';
import { SECOND_MS } from '#core/clock.ts';
import {
  CONNECT_TIMEOUT_MS,
  VIDEO_DOWNLOADS_AT_ONCE,
  VIDEO_POLLS_AT_ONCE,
  VIDEO_SUBMIT_MS,
} from '#core/limits.ts';
import type { Deadlines } from './deadlines.ts';
import { JsonExchange } from './json-exchange.ts';
import type { ProviderAnswer } from './read-job-answer.ts';

/** Time for the provider's answer about a job. */
const VIDEO_ANSWER_MS = 30 * SECOND_MS;

const KEEP_ALIVE_MS = 30_000;

/** The providers of videos as the worker sees them. Nothing here asks twice, and no redirect is followed. */
export class VideoProvider {
  readonly #pools = new Map<string, Pool>();
  readonly #limits: { sending: Deadlines; reading: Deadlines };

  constructor(limits: { sending: Deadlines; reading: Deadlines }) {
    this.#limits = limits;
  }

  /**
   * The one request that makes a job. By a connection of its own: one that waits in a pool may be closed at this moment, and then
   * nobody knows.
   */
  async submit(provider: Provider, order: Buffer): Promise<ProviderAnswer> {
    const client = new Client(addressOf(provider).origin, connectionOptions);
    const deadline = { of: this.#limits.sending, limitMs: VIDEO_SUBMIT_MS };
    const headers = { ...ourHeaders, 'content-type': 'application/json' };
    try {
      return await exchange(
        client,
        provider,
        { method: 'POST', path: '/videos', headers, body: order },
        deadline,
      );
    } finally {
      await client.destroy();
    }
  }

  poll(provider: Provider, providerJobId: string): Promise<ProviderAnswer> {
    const pool = this.#pool(addressOf(provider).origin);
    const deadline = { of: this.#limits.reading, limitMs: VIDEO_ANSWER_MS };
    return exchange(pool, provider, getOf(pathOf(providerJobId), ourHeaders), deadline);
  }

  /** `from`: the rest of what was cut, if it is still the same. Throws when there is no answer. */
  async fetchContent(
    provider: Provider,
    providerJobId: string,
    from: { byte: number; etag: string } | null,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const { origin, basePath } = addressOf(provider);
    const range = from === null ? {} : { range: `bytes=${from.byte}-`, 'if-range': from.etag };
    const headers = { ...ourHeaders, ...range, accept: 'video/mp4' };
    const request = await preparedUntil(
      signal,
      provider,
      getOf(`${pathOf(providerJobId)}/content?index=0`, headers),
    );
    return this.#pool(origin).request({ ...request, path: basePath + request.path, signal });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
  }

  #pool(origin: string): Pool {
    const known = this.#pools.get(origin);
    if (known !== undefined) return known;
    const connections = VIDEO_POLLS_AT_ONCE + VIDEO_DOWNLOADS_AT_ONCE;
    const pool = new Pool(origin, { ...connectionOptions, connections, keepAliveTimeout: KEEP_ALIVE_MS });
    this.#pools.set(origin, pool);
    return pool;
  }
}

const connectionOptions = {
  pipelining: 1,
  // Measured: an HTTP/2 request that is aborted before its body is flushed can hang the whole process.
  allowH2: false,
  connect: { timeout: CONNECT_TIMEOUT_MS },
  // Ours to keep, by the clock of the process.
  headersTimeout: 0,
  bodyTimeout: 0,
};

function addressOf({ baseUrl }: Provider): { origin: string; basePath: string } {
  const { origin, pathname } = new URL(baseUrl);
  return { origin, basePath: pathname.replace(/\/$/, '') };
}

const pathOf = (providerJobId: string): string => `/videos/${encodeURIComponent(providerJobId)}`;

const getOf = (path: string, headers: ProviderRequest['headers']): ProviderRequest => ({
  ...{ method: 'GET', path, headers },
  body: Buffer.alloc(0),
});

const ourHeaders = {
  'user-agent': 'faregate',
  accept: 'application/json',
  'accept-encoding': 'identity',
} as const;

async function exchange(
  dispatcher: Dispatcher,
  provider: Provider,
  wanted: ProviderRequest,
  { of, limitMs }: { of: Deadlines; limitMs: number },
): Promise<ProviderAnswer> {
  const json = new JsonExchange();
  const deadline = of.start(limitMs, () => json.abort());
  const send = (request: ProviderRequest): void => {
    dispatcher.dispatch({ ...request, path: addressOf(provider).basePath + request.path }, json);
  };
  // Nothing was sent where the kind could not prepare the request.
  preparedRequest(provider, wanted).then(send, () => json.abort());
  const answer = await json.answer;
  deadline.end();
  return answer;
}
