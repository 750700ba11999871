import { type AttoUsd, timesFactorUp } from '../money.ts';
import type { Endpoint, Model, Prices, Provider } from './catalog.ts';
import type { CatalogSettings, ModelSettings, ProviderSettings } from './catalog-settings.ts';
import { type Dialect, dialects } from './dialects.ts';
import type { ImportedList } from './import-models.ts';
import { createNearestNames, type NearestNames } from './nearest-names.ts';

/** Everything that a call reads, made anew when any of it changes and never changed after. */
export interface CatalogSnapshot {
  stopped: boolean;
  models: readonly Model[];
  served: ReadonlyMap<string, Model>;
  /** Of lists that are too old: their prices may be wrong by now. */
  outdated: ReadonlySet<string>;
  notServed: ReadonlySet<string>;
  providers: readonly Provider[];
  providersById: ReadonlyMap<string, Provider>;
  nearest: NearestNames;
}

/**
 * An id that stands in several places is served by the first of: the configuration, then the providers' lists
 * in the configuration's order. Endpoints are never mixed, because contexts and prices of one id differ by
 * provider.
 */
export function makeSnapshot(
  settings: CatalogSettings,
  providers: readonly Provider[],
  lists: ReadonlyMap<string, ImportedList & { stale: boolean }>,
): CatalogSnapshot {
  const factors = new Map(settings.providers.map((provider) => [provider.id, provider.priceFactorPpm]));
  const stopped = new Set(settings.stoppedModels);
  const served = new Map<string, Model>();
  const listed = settings.providers.flatMap((provider) => lists.get(provider.id) ?? []);
  const fresh = listed.filter((list) => !list.stale);
  const outdated = listed.filter((list) => list.stale).flatMap((list) => list.models.map(({ id }) => id));
  for (const model of [...settings.models.map(fromSettings), ...fresh.flatMap((list) => list.models)]) {
    if (!served.has(model.id) && !stopped.has(model.id)) served.set(model.id, withMargins(model, factors));
  }
  const models = [...served.values()];
  return {
    stopped: settings.stopped,
    models,
    served,
    outdated: new Set(outdated.filter((id) => !stopped.has(id))),
    notServed: new Set([...stopped, ...listed.flatMap((list) => list.notServed)]),
    providers,
    providersById: new Map(providers.map((provider) => [provider.id, provider])),
    nearest: createNearestNames(models.map((model) => model.id)),
  };
}

const fromSettings = (model: ModelSettings): Model => ({ ...model, createdAtMs: null, about: null });

function withMargins(model: Model, factors: ReadonlyMap<string, bigint>): Model {
  const endpoints = model.endpoints.map((endpoint): Endpoint => {
    const factorPpm = factors.get(endpoint.providerId);
    if (factorPpm === undefined) throw new Error('An endpoint names a provider that is not configured.');
    return { ...endpoint, prices: timesFactor(endpoint.prices, factorPpm) };
  });
  return { ...model, endpoints };
}

/** Rounded up per price, to the atto-dollar: the margin is never lost to rounding. */
function timesFactor(prices: Prices, factorPpm: bigint): Prices {
  const times = (price: AttoUsd): AttoUsd => timesFactorUp(price, factorPpm);
  const timesOrNull = (price: AttoUsd | null): AttoUsd | null => (price === null ? null : times(price));
  return {
    prompt: times(prices.prompt),
    completion: times(prices.completion),
    request: times(prices.request),
    cacheRead: timesOrNull(prices.cacheRead),
    cacheWrite: timesOrNull(prices.cacheWrite),
    cacheWrite1h: timesOrNull(prices.cacheWrite1h),
    internalReasoning: timesOrNull(prices.internalReasoning),
    image: timesOrNull(prices.image),
    webSearch: timesOrNull(prices.webSearch),
    overrides: prices.overrides.map((override) => ({
      minPromptTokens: override.minPromptTokens,
      prompt: timesOrNull(override.prompt),
      completion: timesOrNull(override.completion),
      cacheRead: timesOrNull(override.cacheRead),
      cacheWrite: timesOrNull(override.cacheWrite),
      cacheWrite1h: timesOrNull(override.cacheWrite1h),
    })),
  };
}

function toDialect({ dialect, images }: ProviderSettings): Dialect {
  const row = dialects[dialect];
  return images === null || images === row.images ? row : { ...row, images };
}

/**
 * The key is there for who asks for it by name, and for nothing that prints, copies or encodes the record.
 */
export function toProvider(settings: ProviderSettings, bundledSimulatorUrl: string | null): Provider {
  const baseUrl = settings.baseUrl ?? bundledSimulatorUrl;
  if (baseUrl === null)
    throw new Error('A simulator provider has no baseUrl, and this process runs no simulator.');
  const apiKey = settings.apiKey?.reveal() ?? null;
  const provider: Provider = {
    id: settings.id,
    kind: settings.kind,
    formats: settings.formats,
    cancel: settings.cancel,
    dialect: toDialect(settings),
    baseUrl,
    apiKey,
    priceFactorPpm: settings.priceFactorPpm,
    stopped: settings.stopped,
  };
  return Object.defineProperty(provider, 'apiKey', { value: apiKey, enumerable: false });
}
