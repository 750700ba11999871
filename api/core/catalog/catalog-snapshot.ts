import { timesFactorUp } from '../money.ts';
import type { Endpoint, Model, PriceOverride, Prices, Provider } from './catalog.ts';
import type { CatalogSettings, ModelSettings, ProviderSettings } from './catalog-settings.ts';
import type { Dialect } from './dialect.ts';
import type { ImageModel } from './image-model.ts';
import type { ImportedList } from './import-source.ts';
import { type ServedModels, serveModels } from './served-models.ts';
import type { VideoModel } from './video-model.ts';

/** Everything that a call reads, made anew when any of it changes and never changed after. */
export interface CatalogSnapshot {
  stopped: boolean;
  text: ServedModels<Model>;
  videos: ServedModels<VideoModel>;
  images: ServedModels<ImageModel>;
  providers: readonly Provider[];
  providersById: ReadonlyMap<string, Provider>;
}

type Lists<M> = readonly (ImportedList<M> & { stale: boolean })[];

export function makeSnapshot(
  settings: CatalogSettings,
  providers: readonly Provider[],
  lists: { text: Lists<Model>; videos: Lists<VideoModel>; images: Lists<ImageModel> },
): CatalogSnapshot {
  const factors = new Map(settings.providers.map((provider) => [provider.id, provider.priceFactorPpm]));
  const factorOf = (providerId: string): bigint => {
    const factorPpm = factors.get(providerId);
    if (factorPpm === undefined) throw new Error('A model names a provider that is not configured.');
    return factorPpm;
  };
  const { videos, images } = settings;
  return {
    stopped: settings.stopped,
    text: serveModels({
      own: settings.models.map(fromSettings),
      lists: lists.text,
      stopped: settings.stoppedModels,
      finish: (model) => withMargins(model, factorOf),
    }),
    videos: serveModels({
      own: videos.models,
      lists: lists.videos,
      stopped: videos.stopped,
      finish: (model) => ({
        ...model,
        ...videos.changes.get(model.id),
        skus: new Map(
          Array.from(model.skus, ([key, price]) => [key, timesFactorUp(price, factorOf(model.providerId))]),
        ),
      }),
    }),
    images: serveModels({
      own: images.models,
      lists: lists.images,
      stopped: images.stopped,
      finish: (model) => ({
        ...model,
        pricing: model.pricing.map((line) => ({
          ...line,
          price: timesFactorUp(line.price, factorOf(model.providerId)),
        })),
      }),
    }),
    providers,
    providersById: new Map(providers.map((provider) => [provider.id, provider])),
  };
}

const fromSettings = (model: ModelSettings): Model => ({ ...model, createdAtMs: null, about: null });

function withMargins(model: Model, factorOf: (providerId: string) => bigint): Model {
  const endpoints = model.endpoints.map(
    (endpoint): Endpoint => ({
      ...endpoint,
      prices: timesFactor(endpoint.prices, factorOf(endpoint.providerId)),
    }),
  );
  return { ...model, endpoints };
}

function timesFactor(prices: Prices, factorPpm: bigint): Prices {
  const times = <P extends Prices | PriceOverride>(all: P): P => eachTimesFactor(all, factorPpm);
  return { ...times(prices), overrides: prices.overrides.map(times) };
}

/** Rounded up per price, to the atto-dollar: the margin is never lost to rounding. */
function eachTimesFactor<P extends Prices | PriceOverride>(prices: P, factorPpm: bigint): P {
  const made = { ...prices };
  for (const [name, price] of Object.entries(prices)) {
    if (typeof price === 'bigint') Object.assign(made, { [name]: timesFactorUp(price, factorPpm) });
  }
  return made;
}

function toDialect({ dialect, images }: ProviderSettings): Dialect {
  return images === null || images === dialect.images ? dialect : { ...dialect, images };
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
    settings: settings.settings,
    priceFactorPpm: settings.priceFactorPpm,
    stopped: settings.stopped,
  };
  return Object.defineProperty(provider, 'apiKey', { value: apiKey, enumerable: false });
}
