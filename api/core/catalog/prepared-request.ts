import type { Provider } from './catalog.ts';
import type { ProviderRequest } from './provider-kind.ts';

/** A request with the headers of the provider's kind, as the kind signs it. Rejects where the kind has no valid key or token. */
export async function preparedRequest(
  provider: Provider,
  { headers, ...rest }: ProviderRequest,
): Promise<ProviderRequest> {
  const request = { ...rest, headers: { ...provider.kind.headers(provider), ...headers } };
  return (await provider.kind.prepare?.(provider, request)) ?? request;
}

/** The same until `signal` aborts: a kind may wait for a token that never comes. */
export async function preparedUntil(
  signal: AbortSignal,
  provider: Provider,
  request: ProviderRequest,
): Promise<ProviderRequest> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort);
  try {
    signal.throwIfAborted();
    return await Promise.race([preparedRequest(provider, request), aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** A GET that asks for JSON, before its preparation. */
export const jsonGet = (path: string): ProviderRequest => ({
  method: 'GET',
  path,
  headers: { accept: 'application/json' },
  body: Buffer.alloc(0),
});
