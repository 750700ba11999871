import type { ProviderKind } from '#core/catalog/provider-kind.ts';
import { dialectAt, dialects } from './dialects.ts';

/** Any server that speaks OpenAI's formats. Servers differ by their dialect. */
export const openai: ProviderKind = {
  name: 'openai',
  capabilities: {
    routesBetweenVendors: false,
    reportsCost: false,
    serverTools: 'none',
    readsFilesForModels: false,
    searchesUnasked: false,
    makesMedia: false,
  },
  configuration: {
    baseUrl: null,
    runsInProcess: false,
    catalog: 'none',
    mayImport: false,
    needsKey: false,
    dialects,
    dialectAt: (baseUrl) => dialects[dialectAt(baseUrl)],
    formats: ({ formats }) => formats,
  },
  headers: bearerHeaders,
  answerPath: ({ format }) => `/${format}`,
  prepare: null,
  openAdapter: null,
  keyPath: null,
  bill: null,
  price: null,
};

/** Headers of a server that takes its key as a bearer token. */
export function bearerHeaders({
  formats,
  apiKey,
}: Parameters<ProviderKind['headers']>[0]): Record<string, string> {
  const headers: Record<string, string> = { 'user-agent': 'faregate' };
  // Servers of the messages format read it. On others it has no effect.
  if (formats.includes('messages')) headers['anthropic-version'] = MESSAGES_VERSION;
  if (apiKey !== null) headers.authorization = `Bearer ${apiKey}`;
  return headers;
}

/** The version of the messages format that the gateway writes and reads. */
export const MESSAGES_VERSION = '2023-06-01';
