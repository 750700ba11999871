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

  post(provider: Provider, path: string, body: Buffer, stream: boolean): UpstreamRequest {
    const target = this.#target(provider);
    const request = new UpstreamRequest();
    target.pool.dispatch(
      {
        path: target.basePath + path,
        method: 'POST',
        headers: stream ? target.streamHeaders : target.jsonHeaders,
        body,
      },
      request,
    );
    return request;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
  }

  /** Made again when the operator changes a provider's address or key. */
  #target(provider: Provider): Target {
    const known = this.#targets.get(provider.id);
    if (known !== undefined && known.baseUrl === provider.baseUrl && known.apiKey === provider.apiKey)
      return known;
    const url = new URL(provider.baseUrl);
    const base = {
      ...headersOf(provider),
      'content-type': 'application/json',
      'accept-encoding': 'identity',
    };
    const target: Target = {
      baseUrl: provider.baseUrl,
      apiKey: provider.apiKey,
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
      // An HTTP/2 request aborted before its body is flushed can hang the whole process (reference measured it).
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
  baseUrl: string;
  apiKey: Provider['apiKey'];
  pool: Pool;
  basePath: string;
  jsonHeaders: Record<string, string>;
  streamHeaders: Record<string, string>;
}

/** Nothing of the caller's headers goes upstream. */
function headersOf(provider: Provider): Record<string, string> {
  const headers: Record<string, string> = { 'user-agent': 'faregate' };
  if (provider.kind === 'anthropic') headers['anthropic-version'] = '2023-06-01';
  if (provider.apiKey === null) return headers;
  if (provider.kind === 'anthropic') headers['x-api-key'] = provider.apiKey;
  else headers.authorization = `Bearer ${provider.apiKey}`;
  return headers;
}
