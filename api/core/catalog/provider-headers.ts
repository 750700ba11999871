import type { Provider } from './catalog.ts';

/** Who we are to a provider. Of a caller's headers none is among them. */
export function providerHeaders(
  provider: Pick<Provider, 'kind' | 'formats' | 'apiKey'>,
): Record<string, string> {
  const headers: Record<string, string> = { 'user-agent': 'faregate' };
  // Read by servers of the messages format, of no effect on others.
  if (provider.formats.includes('messages')) headers['anthropic-version'] = '2023-06-01';
  if (provider.apiKey === null) return headers;
  if (provider.kind === 'anthropic') headers['x-api-key'] = provider.apiKey;
  else headers.authorization = `Bearer ${provider.apiKey}`;
  return headers;
}
