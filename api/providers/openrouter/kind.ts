import type { ProviderKind } from '#core/catalog/provider-kind.ts';
import { dialects } from '../openai/dialects.ts';
import { answerPath, bearerHeaders } from '../openai/kind.ts';
import { bill } from './bill.ts';
import { lists } from './lists/lists.ts';
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
    settings: {},
    baseUrl: 'https://openrouter.ai/api/v1',
    runsInProcess: false,
    catalog: 'import',
    mayImport: true,
    needsKey: true,
    fromKey: { variable: 'OPENROUTER_API_KEY', baseUrl: null, models: [] },
    dialects: null,
    dialectAt: () => dialects.other,
    formats: () => ['chat', 'responses', 'messages'],
  },
  headers: bearerHeaders,
  answerPath,
  prepare: null,
  ownFormat: null,
  openAdapter: null,
  lists,
  keyPath: '/key',
  bill,
  price,
};

/** The simulator speaks as the router does. Without an address it runs inside the gateway. */
export const simulator: ProviderKind = {
  ...openrouter,
  name: 'simulator',
  configuration: {
    ...openrouter.configuration,
    baseUrl: null,
    runsInProcess: true,
    needsKey: false,
    fromKey: null,
  },
};
