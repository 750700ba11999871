import { z } from 'zod';
import type { Endpoint, Model, Provider } from '#core/catalog/catalog.ts';
import type { LiveCatalog } from '#core/catalog/create-catalog.ts';
import { isoTime } from '#core/clock.ts';
import { type AttoUsd, formatAttoUsd } from '#core/money.ts';

/** Prices are finer than money: down to a billionth of a nano-dollar. */
const priceText = () =>
  z
    .string()
    .regex(/^\d+(\.\d{1,18})?$/)
    .meta({ description: "US dollars per unit, exact, the operator's margin included." });

const ProviderList = z
  .object({
    last_success_at: z.iso.datetime().nullable().meta({ description: 'Null: it has never arrived.' }),
    last_error: z.object({ message: z.string(), at: z.iso.datetime() }).nullable(),
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
    kind: z.enum(['openrouter', 'openai', 'anthropic', 'simulator']),
    base_url: z.string(),
    has_key: z.boolean(),
    stopped: z.boolean(),
    list: ProviderList.nullable().meta({ description: 'Null: its models are not imported.' }),
  })
  .meta({ id: 'CatalogProvider' });

const CatalogEndpoint = z
  .object({
    provider: z.string(),
    model: z.string().meta({ description: "The provider's own id." }),
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

export const CatalogReport = z
  .object({
    stopped: z.boolean().meta({ description: 'The stop switch of the whole gateway.' }),
    providers: z.array(CatalogProvider),
    models: z.array(CatalogModel),
    models_found: z.int().meta({ description: 'How many there are; `models` may show fewer.' }),
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

type CatalogFacts = Pick<LiveCatalog, 'models' | 'providers' | 'gatewayStopped' | 'status'>;

/** Models whose id holds `search`, at most `limit`. */
export function shapeCatalog(
  catalog: CatalogFacts,
  { search, limit }: { search: string; limit: number },
): CatalogReport {
  const found = catalog.models().filter((model) => model.id.includes(search));
  return {
    stopped: catalog.gatewayStopped(),
    providers: catalog.providers().map((provider) => shapeProvider(provider, catalog)),
    models: found.slice(0, limit).map(shapeModel),
    models_found: found.length,
  };
}

function shapeProvider(
  { id, kind, baseUrl, apiKey, stopped }: Provider,
  catalog: CatalogFacts,
): CatalogReport['providers'][number] {
  const status = catalog.status().find((each) => each.providerId === id && each.list === 'models');
  const list = status && {
    last_success_at: status.lastSuccessAtMs === null ? null : isoTime(status.lastSuccessAtMs),
    last_error: status.lastError && {
      message: status.lastError.message,
      at: isoTime(status.lastError.atMs),
    },
    served_models: status.servedModels,
    not_served_models: status.notServedModels,
    held_back: [...status.heldBack],
  };
  return { id, kind, base_url: baseUrl, has_key: apiKey !== null, stopped, list: list ?? null };
}

const shapeModel = (model: Model): CatalogReport['models'][number] => ({
  id: model.id,
  name: model.name,
  context_length: model.contextLength,
  max_output_tokens: model.maxOutputTokens,
  endpoints: model.endpoints.map(shapeEndpoint),
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
