import type { ProviderKind } from '#core/catalog/provider-kind.ts';
import { plainDialect } from '../openai/dialects.ts';
import { MESSAGES_VERSION, openai } from '../openai/kind.ts';
import { lastKnownModels } from './last-known-models.ts';

/** Anthropic's own interface: the messages format, with the key in a header of its own. */
export const anthropic: ProviderKind = {
  ...openai,
  name: 'anthropic',
  capabilities: { ...openai.capabilities, serverTools: 'own' },
  configuration: {
    ...openai.configuration,
    mayImport: true,
    fromKey: { variable: 'ANTHROPIC_API_KEY', baseUrl: null, models: lastKnownModels },
    baseUrl: 'https://api.anthropic.com/v1',
    dialects: null,
    dialectAt: () => plainDialect,
    formats: () => ['messages'],
  },
  headers({ formats, apiKey }) {
    const headers: Record<string, string> = { 'user-agent': 'faregate' };
    if (formats.includes('messages')) headers['anthropic-version'] = MESSAGES_VERSION;
    if (apiKey !== null) headers['x-api-key'] = apiKey;
    return headers;
  },
};
