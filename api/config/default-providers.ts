import type { ModelSettings, ProviderSettings } from '#core/catalog/catalog-settings.ts';
import { lastKnownModels } from '#core/catalog/last-known-models.ts';
import type { ProviderKind } from '#core/catalog/provider-kind.ts';
import { CATALOG_STALE_MS } from '#core/limits.ts';
import { FACTOR_ONE_PPM } from '#core/money.ts';
import { Secret } from '#core/secret.ts';
import { providerKinds } from '../providers/provider-kinds.ts';
import type { ConfigProblem } from './config-error.ts';
import { type Environment, parseApiKey } from './resolve-secrets.ts';

const { openrouter, openai, anthropic, simulator } = providerKinds;
const OPENAI_URL = 'https://api.openai.com/v1';

export interface DefaultProviders {
  providers: ProviderSettings[];
  models: ModelSettings[];
  notices: string[];
  problems: ConfigProblem[];
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
  const add = (kind: ProviderKind, apiKey: Secret | null, baseUrl = kind.configuration.baseUrl): void => {
    const { configuration } = kind;
    const dialect = configuration.dialectAt(baseUrl ?? '');
    found.providers.push({
      id: kind.name,
      kind,
      baseUrl,
      apiKey,
      catalog: configuration.catalog,
      formats: configuration.formats(dialect),
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
    add(openrouter, openrouterKey);
  }
  const openaiKey = keyOf('OPENAI_API_KEY');
  if (openaiKey !== null) {
    add(openai, openaiKey, OPENAI_URL);
    found.models.push(...lastKnownModels('openai'));
    found.notices.push('The prices of openai/… models are as last known; check them before real use.');
  }
  const anthropicKey = keyOf('ANTHROPIC_API_KEY');
  if (anthropicKey !== null) {
    add(anthropic, anthropicKey);
    found.models.push(...lastKnownModels('anthropic'));
    found.notices.push('The prices of anthropic/… models are as last known; check them before real use.');
  }
  // Last, so that a model of a real provider is never answered by the simulator.
  add(simulator, null);
  return found;
}
