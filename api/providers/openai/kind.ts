import type { FormatName } from '#core/catalog/catalog.ts';
import type { AskedAnswer, ProviderKind } from '#core/catalog/provider-kind.ts';
import { lists } from '../openrouter/lists/lists.ts';
import { dialectAt, dialects } from './dialects.ts';
import { lastKnownModels } from './last-known-models.ts';

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
    settings: {},
    baseUrl: null,
    runsInProcess: false,
    catalog: 'none',
    mayImport: false,
    needsKey: false,
    fromKey: { variable: 'OPENAI_API_KEY', baseUrl: 'https://api.openai.com/v1', models: lastKnownModels },
    dialects,
    dialectAt: (baseUrl) => dialects[dialectAt(baseUrl)],
    formats: ({ formats }) => formats,
  },
  headers: bearerHeaders,
  answerPath,
  prepare: null,
  ownFormat: null,
  openAdapter: null,
  lists,
  keyPath: null,
  bill: null,
  price: null,
};

/** Below the provider's address, by format. */
const ANSWER_PATHS: Readonly<Record<FormatName, string>> = {
  chat: '/chat/completions',
  responses: '/responses',
  messages: '/messages',
};

/** Where a server of the three formats is asked. */
export function answerPath({ format }: AskedAnswer): string {
  if (format === 'own') throw new Error('A kind with a format of its own has paths of its own.');
  return ANSWER_PATHS[format];
}

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
