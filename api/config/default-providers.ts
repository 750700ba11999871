import type { FormatName, ProviderKind } from '#core/catalog/catalog.ts';
import type { ModelSettings, ProviderSettings } from '#core/catalog/catalog-settings.ts';
import { type DialectName, dialectAt, dialects } from '#core/catalog/dialects.ts';
import { lastKnownModels } from '#core/catalog/last-known-models.ts';
import { CATALOG_STALE_MS } from '#core/limits.ts';
import { FACTOR_ONE_PPM } from '#core/money.ts';
import { Secret } from '#core/secret.ts';
import type { ConfigProblem } from './config-error.ts';
import { type Environment, parseApiKey } from './resolve-secrets.ts';

export const OPENROUTER_URL = 'https://openrouter.ai/api/v1';
const OPENAI_URL = 'https://api.openai.com/v1';
export const ANTHROPIC_URL = 'https://api.anthropic.com/v1';

export interface DefaultProviders {
  providers: ProviderSettings[];
  models: ModelSettings[];
  notices: string[];
  problems: ConfigProblem[];
}

/** What a provider of this kind speaks when nobody says otherwise. */
export function formatsOf(kind: ProviderKind, dialect: DialectName): readonly FormatName[] {
  switch (kind) {
    case 'openai':
      return dialects[dialect].formats;
    case 'anthropic':
      return ['messages'];
    case 'openrouter':
    case 'simulator':
      return ['chat/completions', 'responses', 'messages'];
  }
}

/** Who serves when nobody says: each vendor whose key the environment has, and the simulator after them. */
export function defaultProviders(env: Environment): DefaultProviders {
  const found: DefaultProviders = { providers: [], models: [], notices: [], problems: [] };
  const keyOf = (name: string): Secret | null => {
    const value = env[name] ?? '';
    if (value === '') return null;
    const key = parseApiKey(value);
    if (key instanceof Secret) return key;
    found.problems.push({ source: 'environment', line: null, column: null, path: name, message: key });
    return null;
  };
  const add = (given: Pick<ProviderSettings, 'id' | 'kind' | 'baseUrl' | 'apiKey' | 'catalog'>): void => {
    const dialect = given.kind === 'openai' ? dialectAt(given.baseUrl ?? '') : 'other';
    found.providers.push({
      ...given,
      formats: formatsOf(given.kind, dialect),
      cancel: 'stops_billing',
      dialect,
      images: null,
      priceFactorPpm: FACTOR_ONE_PPM,
      priceJumpPpm: 3_000_000n,
      listMaxAgeMs: CATALOG_STALE_MS,
      stopped: false,
    });
  };

  const openrouterKey = keyOf('OPENROUTER_API_KEY');
  if (openrouterKey !== null) {
    add({
      id: 'openrouter',
      kind: 'openrouter',
      baseUrl: OPENROUTER_URL,
      apiKey: openrouterKey,
      catalog: 'import',
    });
  }
  const openaiKey = keyOf('OPENAI_API_KEY');
  if (openaiKey !== null) {
    add({ id: 'openai', kind: 'openai', baseUrl: OPENAI_URL, apiKey: openaiKey, catalog: 'none' });
    found.models.push(...lastKnownModels('openai'));
    found.notices.push('The prices of openai/… models are as last known; check them before real use.');
  }
  const anthropicKey = keyOf('ANTHROPIC_API_KEY');
  if (anthropicKey !== null) {
    add({
      id: 'anthropic',
      kind: 'anthropic',
      baseUrl: ANTHROPIC_URL,
      apiKey: anthropicKey,
      catalog: 'none',
    });
    found.models.push(...lastKnownModels('anthropic'));
    found.notices.push('The prices of anthropic/… models are as last known; check them before real use.');
  }
  // Last, so that a model of a real provider is never answered by the simulator.
  add({ id: 'simulator', kind: 'simulator', baseUrl: null, apiKey: null, catalog: 'import' });
  return found;
}
