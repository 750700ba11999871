import type { ProviderKind } from '#core/catalog/provider-kind.ts';
import { plainDialect } from '../openai/dialects.ts';
import { bearerHeaders } from '../openai/kind.ts';
import { bill } from './bill.ts';
import { price } from './price.ts';

/** A router: it passes each call to one of many vendors, says what it charges, and makes images and videos, too. */
export const openrouter: ProviderKind = {
  name: 'openrouter',
  capabilities: {
    routesBetweenVendors: true,
    reportsCost: true,
    serverTools: 'router',
    readsFilesForModels: true,
    searchesUnasked: true,
    makesMedia: true,
  },
  configuration: {
    baseUrl: 'https://openrouter.ai/api/v1',
    runsInProcess: false,
    catalog: 'import',
    mayImport: true,
    needsKey: true,
    dialects: null,
    dialectAt: () => plainDialect,
    formats: () => ['chat/completions', 'responses', 'messages'],
  },
  headers: bearerHeaders,
  answerPath: ({ format }) => `/${format}`,
  prepare: null,
  openAdapter: null,
  keyPath: '/key',
  bill,
  price,
};

/** The simulator speaks as the router does. Without an address it runs inside the gateway. */
export const simulator: ProviderKind = {
  ...openrouter,
  name: 'simulator',
  configuration: { ...openrouter.configuration, baseUrl: null, runsInProcess: true, needsKey: false },
};
