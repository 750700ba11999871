import { Pool } from 'undici';
import type { Provider } from '#core/catalog/catalog.ts';
import { CONNECT_TIMEOUT_MS } from '#core/limits.ts';
import { UpstreamRequest } from './upstream-request.ts';

const CONNECTIONS_PER_PROVIDER = 2048;
const KEEP_ALIVE_MS = 30_000;

/** One connection pool an origin, kept for as long as the process lives. */
export class UpstreamPools {
  readonly #pools = new Map<string, Pool>();
  readonly #targets = new Map<string, Target>();

  /** `betas`: of the messages format, those that the caller asks for and may. */
  post(
    provider: Provider,
    path: string,
    body: Buffer,
    stream: boolean,
    betas: string | null = null,
  ): UpstreamRequest {
    const target = this.#target(provider);
    const headers = stream ? target.streamHeaders : target.jsonHeaders;
    const request = new UpstreamRequest();
    target.pool.dispatch(
      {
        path: target.basePath + path,
        method: 'POST',
        headers: betas === null ? headers : { ...headers, 'anthropic-beta': betas },
        body,
      },
      request,
    );
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

interface Target {
  provider: Provider;
  pool: Pool;
  basePath: string;
  jsonHeaders: Record<string, string>;
  streamHeaders: Record<string, string>;
}
