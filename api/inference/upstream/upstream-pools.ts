import { Pool } from 'undici';
import type { Provider } from '#core/catalog/catalog.ts';
import type { AnswerAdapter, AnswerRequest } from '#core/catalog/provider-kind.ts';
import { CONNECT_TIMEOUT_MS } from '#core/limits.ts';
import { AdaptedAnswer } from './adapted-answer.ts';
import { UpstreamRequest } from './upstream-request.ts';

const CONNECTIONS_PER_PROVIDER = 2048;
const KEEP_ALIVE_MS = 30_000;

/** One connection pool an origin, kept for as long as the process lives. */
export class UpstreamPools {
  readonly #pools = new Map<string, Pool>();
  readonly #targets = new Map<string, Target>();

  /** @param adapter Turns the answer into the asked format; `null`: it is in that format. */
  post(provider: Provider, asked: PostedRequest, adapter: AnswerAdapter | null = null): UpstreamRequest {
    const target = this.#target(provider);
    const { path, body, stream, headers: more } = asked;
    const own = stream ? target.streamHeaders : target.jsonHeaders;
    const request = new UpstreamRequest();
    const send = (ready: AnswerRequest): void => {
      // An end of the call may have come before the kind had its request ready.
      if (request.ended) return;
      const handler = adapter === null ? request : new AdaptedAnswer(request, adapter);
      target.pool.dispatch({ ...ready, path: target.basePath + ready.path, method: 'POST' }, handler);
    };
    const plain = { path, headers: more === null ? own : { ...own, ...more }, body };
    const { prepare } = provider.kind;
    if (prepare === null) send(plain);
    else {
      void Promise.resolve()
        .then(() => prepare(provider, plain))
        .then(send)
        .catch((error) => request.onResponseError(null, error));
    }
    return request;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
  }

  /** Made again when the operator changes anything of a provider. */
  #target(provider: Provider): Target {
    const known = this.#targets.get(provider.id);
    if (known?.provider === provider) return known;
    const url = new URL(provider.baseUrl);
    const base = {
      ...provider.kind.headers(provider),
      'content-type': 'application/json',
      'accept-encoding': 'identity',
    };
    const target: Target = {
      provider,
      pool: this.#pool(url.origin),
      basePath: url.pathname.replace(/\/$/, ''),
      jsonHeaders: { ...base, accept: 'application/json' },
      streamHeaders: { ...base, accept: 'text/event-stream' },
    };
    this.#targets.set(provider.id, target);
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

interface Target {
  provider: Provider;
  pool: Pool;
  basePath: string;
  jsonHeaders: Record<string, string>;
  streamHeaders: Record<string, string>;
}
