import { Pool } from 'undici';
import type { Provider } from '#core/catalog/catalog.ts';
import type { AnswerAdapter, ProviderRequest } from '#core/catalog/provider-kind.ts';
import { CONNECT_TIMEOUT_MS } from '#core/limits.ts';
import { AdaptedAnswer } from './adapted-answer.ts';
import { DecodedAnswer } from './decoded-answer.ts';
import { UpstreamRequest } from './upstream-request.ts';

const CONNECTIONS_PER_PROVIDER = 2048;
const KEEP_ALIVE_MS = 30_000;

/** One connection pool an origin, kept for as long as the process lives. */
export class UpstreamPools {
  readonly #pools = new Map<string, Pool>();
  /** A provider whose settings change is another object. */
  readonly #targets = new WeakMap<Provider, Target>();

  /** @param adapter Turns the answer into the asked format; `null`: it is in that format. */
  post(provider: Provider, asked: PostedRequest, adapter: AnswerAdapter | null = null): UpstreamRequest {
    const { path, body, stream, headers: more } = asked;
    const target = this.#target(provider);
    const common = stream ? target.streamHeaders : target.jsonHeaders;
    const headers = more === null ? common : { ...common, ...more };
    const request = new UpstreamRequest();
    const plain: ProviderRequest = { method: 'POST', path, headers, body };
    const { prepare } = provider.kind;
    if (prepare === null) dispatch(target, plain, request, adapter);
    else {
      void Promise.resolve()
        .then(() => prepare(provider, plain))
        .then((ready) => dispatch(target, ready, request, adapter))
        .catch((error) => request.onResponseError(null, error));
    }
    return request;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
  }

  #target(provider: Provider): Target {
    const known = this.#targets.get(provider);
    if (known !== undefined) return known;
    const { origin, pathname } = new URL(provider.baseUrl);
    const headers = {
      ...provider.kind.headers(provider),
      'content-type': 'application/json',
      'accept-encoding': 'identity',
    };
    const target: Target = {
      pool: this.#pool(origin),
      basePath: pathname.replace(/\/$/, ''),
      // Frozen: a header that `prepare` wrote into them would be sent with later requests.
      jsonHeaders: Object.freeze({ ...headers, accept: 'application/json' }),
      streamHeaders: Object.freeze({ ...headers, accept: 'text/event-stream' }),
    };
    this.#targets.set(provider, target);
    return target;
  }

  #pool(origin: string): Pool {
    const known = this.#pools.get(origin);
    if (known !== undefined) return known;
    const pool = new Pool(origin, {
      connections: CONNECTIONS_PER_PROVIDER,
      pipelining: 1,
      // Measured: an HTTP/2 request that is aborted before its body is flushed can hang the whole process.
      allowH2: false,
      connect: { timeout: CONNECT_TIMEOUT_MS },
      keepAliveTimeout: KEEP_ALIVE_MS,
      // The spec's 13 and 30 minutes are ours to keep: a call ends with its own error, not with a socket's.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#pools.set(origin, pool);
    return pool;
  }
}

export interface PostedRequest {
  /** Below the provider's address. */
  path: string;
  body: Buffer;
  /** Whether events are asked for. */
  stream: boolean;
  /** Headers of this request beside the provider's own; `null`: none. */
  headers: Readonly<Record<string, string>> | null;
}

/** The parts of a request that are the same for all requests to a provider. */
interface Target {
  pool: Pool;
  basePath: string;
  jsonHeaders: Readonly<Record<string, string>>;
  streamHeaders: Readonly<Record<string, string>>;
}

function dispatch(
  { pool, basePath }: Target,
  { method, path, headers, body }: ProviderRequest,
  request: UpstreamRequest,
  adapter: AnswerAdapter | null,
): void {
  // An end of the call may have come before the kind had its request ready.
  if (request.ended) return;
  const handler = adapter === null ? request : new AdaptedAnswer(request, adapter);
  pool.dispatch({ method, path: basePath + path, headers, body }, new DecodedAnswer(handler));
}
