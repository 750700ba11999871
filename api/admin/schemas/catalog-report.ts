import { z } from 'zod';
import type { Endpoint, Model, Provider } from '#core/catalog/catalog.ts';
import type { LiveCatalog } from '#core/catalog/create-catalog.ts';
import type { ImageModel } from '#core/catalog/image-model.ts';
import type { ImportStatus } from '#core/catalog/import-source.ts';
import type { VideoModel } from '#core/catalog/video-model.ts';
import { isoTime } from '#core/clock.ts';
import { type AttoUsd, formatAttoUsd } from '#core/money.ts';
import { ImageModelPrice, shapeImagePrice } from '../../contract/media-models.ts';
import { PROVIDER_KIND_NAMES } from '../../providers/provider-kinds.ts';

/** Prices are finer than money: down to a billionth of a nano-dollar. */
const priceText = () =>
  z
    .string()
    .regex(/^\d+(\.\d{1,18})?$/)
    .meta({ description: "US dollars per unit, exact, the operator's margin included." });

const ProviderList = z
  .object({
    last_success_at: z.iso.datetime().nullable().meta({ description: 'Null: it has never arrived.' }),
    last_error: z
      .object({ message: z.string(), at: z.iso.datetime() })
      .meta({ id: 'ProviderListError' })
      .nullable(),
    served_models: z.int(),
    not_served_models: z.int(),
    held_back: z.array(z.string()).meta({
      description:
        'Models whose price jumped: the old price counts until the operator reloads the catalogue.',
    }),
  })
  .meta({ id: 'ProviderList' });

const CatalogProvider = z
  .object({
    id: z.string(),
    kind: z.enum(PROVIDER_KIND_NAMES),
    base_url: z.string(),
    has_key: z.boolean(),
    stopped: z.boolean(),
    list: ProviderList.nullable().meta({ description: 'Null: its models are not imported.' }),
    image_list: ProviderList.nullable().meta({ description: 'The same of image models.' }),
    video_list: ProviderList.nullable().meta({ description: 'The same of video models.' }),
  })
  .meta({ id: 'CatalogProvider' });

/** Who runs a model. */
const runBy = {
  provider: z.string(),
  model: z.string().meta({ description: "The provider's own id." }),
};

const CatalogEndpoint = z
  .object({
    ...runBy,
    prompt_usd: priceText(),
    completion_usd: priceText(),
    request_usd: priceText(),
    cache_read_usd: priceText().nullable(),
    cache_write_usd: priceText().nullable(),
    cache_write_1h_usd: priceText().nullable(),
  })
  .meta({ id: 'CatalogEndpoint' });

const CatalogModel = z
  .object({
    id: z.string(),
    name: z.string(),
    context_length: z.int(),
    max_output_tokens: z.int().nullable(),
    endpoints: z.array(CatalogEndpoint).meta({ description: 'In the order in which they are tried.' }),
  })
  .meta({ id: 'CatalogModel' });

const CatalogImageModel = z
  .object({ id: z.string(), name: z.string(), ...runBy, pricing: z.array(ImageModelPrice) })
  .meta({ id: 'CatalogImageModel' });

const CatalogVideoPrice = z
  .object({
    key: z.string().meta({ description: "The provider's price key.", examples: ['duration_seconds_720p'] }),
    price: z.string().meta({
      description:
        "What the key bills, exact, the operator's margin included: US dollars, or cents where the key says so.",
      examples: ['0.05'],
    }),
  })
  .meta({ id: 'CatalogVideoPrice' });

const CatalogVideoModel = z
  .object({ id: z.string(), name: z.string(), ...runBy, pricing: z.array(CatalogVideoPrice) })
  .meta({ id: 'CatalogVideoModel' });

const howMany = (list: string) =>
  z.int().meta({ description: `How many there are; \`${list}\` may show fewer.` });

export const CatalogReport = z
  .object({
    stopped: z.boolean().meta({ description: 'The stop switch of the whole gateway.' }),
    providers: z.array(CatalogProvider),
    models: z.array(CatalogModel),
    models_found: howMany('models'),
    image_models: z.array(CatalogImageModel),
    image_models_found: howMany('image_models'),
    video_models: z.array(CatalogVideoModel),
    video_models_found: howMany('video_models'),
  })
  .meta({ id: 'CatalogReport' });
export type CatalogReport = z.infer<typeof CatalogReport>;

export const CatalogCheck = z
  .object({
    ok: z.boolean().meta({ description: 'There are no problems.' }),
    problems: z.array(z.string()).meta({ description: 'What does not work.' }),
    warnings: z.array(z.string()).meta({ description: 'What is allowed but looks like a mistake.' }),
  })
  .meta({ id: 'CatalogCheck' });
export type CatalogCheck = z.infer<typeof CatalogCheck>;

export const CatalogReload = z
  .object({
    ok: z.boolean().meta({ description: 'False: the file is wrong, and what was in force goes on.' }),
    message: z.string(),
    needs_restart: z.array(z.string()).meta({ description: 'Changed keys that count only after a restart.' }),
    problems: z.array(z.string()).meta({ description: "Of the providers' lists, which were fetched anew." }),
  })
  .meta({ id: 'CatalogReload' });

type CatalogFacts = Pick<
  LiveCatalog,
  'models' | 'imageModels' | 'videoModels' | 'providers' | 'gatewayStopped' | 'status'
>;

/** Models whose id holds `search`, at most `limit` of each kind. */
export function shapeCatalog(
  catalog: CatalogFacts,
  { search, limit }: { search: string; limit: number },
): CatalogReport {
  const holding = <M extends { id: string }>(all: readonly M[]) =>
    all.filter(({ id }) => id.includes(search));
  const models = holding(catalog.models());
  const images = holding(catalog.imageModels());
  const videos = holding(catalog.videoModels());
  return {
    stopped: catalog.gatewayStopped(),
    providers: catalog.providers().map((provider) => shapeProvider(provider, catalog)),
    models: models.slice(0, limit).map(shapeModel),
    models_found: models.length,
    image_models: images.slice(0, limit).map(shapeImageModel),
    image_models_found: images.length,
    video_models: videos.slice(0, limit).map(shapeVideoModel),
    video_models_found: videos.length,
  };
}

function shapeProvider(
  { id, kind, baseUrl, apiKey, stopped }: Provider,
  catalog: CatalogFacts,
): CatalogReport['providers'][number] {
  const statuses = catalog.status().filter(({ providerId }) => providerId === id);
  const listOf = (name: ImportStatus['list']) => shapeList(statuses.find(({ list }) => list === name));
  return {
    id,
    kind: kind.name,
    base_url: baseUrl,
    has_key: apiKey !== null,
    stopped,
    list: listOf('models'),
    image_list: listOf('image models'),
    video_list: listOf('video models'),
  };
}

function shapeList(status: ImportStatus | undefined): z.infer<typeof ProviderList> | null {
  if (status === undefined) return null;
  return {
    last_success_at: status.lastSuccessAtMs === null ? null : isoTime(status.lastSuccessAtMs),
    last_error: status.lastError && {
      message: status.lastError.message,
      at: isoTime(status.lastError.atMs),
    },
    served_models: status.servedModels,
    not_served_models: status.notServedModels,
    held_back: [...status.heldBack],
  };
}

const shapeModel = (model: Model): CatalogReport['models'][number] => ({
  id: model.id,
  name: model.name,
  context_length: model.contextLength,
  max_output_tokens: model.maxOutputTokens,
  endpoints: model.endpoints.map(shapeEndpoint),
});

const shapeImageModel = (model: ImageModel): CatalogReport['image_models'][number] => ({
  ...shapeMediaModel(model),
  pricing: model.pricing.map(shapeImagePrice),
});

const shapeVideoModel = (model: VideoModel): CatalogReport['video_models'][number] => ({
  ...shapeMediaModel(model),
  pricing: Array.from(model.skus, ([key, price]) => ({ key, price: formatAttoUsd(price) })),
});

const shapeMediaModel = ({ id, name, providerId, upstreamModel }: ImageModel | VideoModel) => ({
  id,
  name,
  provider: providerId,
  model: upstreamModel,
});

function shapeEndpoint({ providerId, upstreamModel, prices }: Endpoint) {
  const text = (price: AttoUsd | null): string | null => (price === null ? null : formatAttoUsd(price));
  return {
    provider: providerId,
    model: upstreamModel,
    prompt_usd: formatAttoUsd(prices.prompt),
    completion_usd: formatAttoUsd(prices.completion),
    request_usd: formatAttoUsd(prices.request),
    cache_read_usd: text(prices.cacheRead),
    cache_write_usd: text(prices.cacheWrite),
    cache_write_1h_usd: text(prices.cacheWrite1h),
  };
}
