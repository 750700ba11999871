import type { ModelSettings, ProviderSettings } from '#core/catalog/catalog-settings.ts';
import type { ProviderKind } from '#core/catalog/provider-kind.ts';
import { Secret } from '#core/secret.ts';
import { knownModels } from '../providers/known-models.ts';
import { providerKinds } from '../providers/provider-kinds.ts';
import { type ConfigProblem, environmentProblem } from './config-error.ts';
import { providerFile } from './provider-file.ts';
import { type Environment, parseApiKey } from './resolve-secrets.ts';
import { toProviderSettings } from './to-settings.ts';

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
    found.problems.push(environmentProblem(name, key));
    return null;
  };
  const add = ({ name }: ProviderKind, apiKey: Secret | null, baseUrl: string | null): void => {
    const file = providerFile.parse({ id: name, kind: name, ...(baseUrl === null ? {} : { baseUrl }) });
    found.providers.push(toProviderSettings(file, apiKey));
  };

  const kinds: readonly ProviderKind[] = Object.values(providerKinds);
  for (const kind of kinds) {
    const { fromKey } = kind.configuration;
    const key = fromKey === null ? null : keyOf(fromKey.variable);
    if (fromKey === null || key === null) continue;
    add(kind, key, fromKey.baseUrl);
    const models = knownModels(kind);
    if (models.length === 0) continue;
    found.models.push(...models);
    found.notices.push(`The prices of ${kind.name}/… models are as last known; check them before real use.`);
  }
  // The simulator comes last, so that it never answers for a model of a real provider.
  for (const kind of kinds) if (kind.configuration.runsInProcess) add(kind, null, null);
  return found;
}
