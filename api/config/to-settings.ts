import {
  type Endpoint,
  FORMAT_NAMES,
  FORMAT_PATHS,
  type FormatName,
  type PriceOverride,
} from '#core/catalog/catalog.ts';
import type { CatalogSettings, ModelSettings, ProviderSettings } from '#core/catalog/catalog-settings.ts';
import type { KindConfiguration } from '#core/catalog/provider-kind.ts';
import { type AttoUsd, type NanoUsd, parseAttoUsd, parseFactorPpm, parseNanoUsd } from '#core/money.ts';
import type { Secret } from '#core/secret.ts';
import { withoutEndSlashes } from '#core/without-end-slashes.ts';
import { kindNamed } from '../providers/provider-kinds.ts';
import type { EndpointFile, ModelFile } from './model-file.ts';
import type { ProviderFile } from './provider-file.ts';

/** Only after the schema and the checks across the file: what they have proven is not asked again. */
export function toProviderSettings(file: ProviderFile, apiKey: Secret | null): ProviderSettings {
  const kind = kindNamed(file.kind);
  const { configuration } = kind;
  const baseUrl = file.baseUrl === undefined ? configuration.baseUrl : withoutEndSlashes(file.baseUrl);
  const dialect = configuration.dialects?.[file.dialect ?? ''] ?? configuration.dialectAt(baseUrl ?? '');
  return {
    id: file.id,
    kind,
    formats: formatsOf(file) ?? configuration.formats(dialect),
    cancel: file.cancel,
    dialect,
    images: file.images ?? null,
    baseUrl,
    apiKey,
    settings: readKindSettings(file, configuration),
    catalog: file.catalog ?? configuration.catalog,
    priceFactorPpm: checked(parseFactorPpm(file.priceFactor)),
    priceJumpPpm: checked(parseFactorPpm(file.priceJumpFactor)),
    listMaxAgeMs: file.catalogMaxAgeMs,
    stopped: file.stopped,
  };
}

const readKindSettings = (file: object, { settings }: KindConfiguration): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(settings).map(([name, schema]) => [name, schema.parse(Reflect.get(file, name))]),
  );

export function toModelSettings(
  files: readonly ModelFile[],
): Pick<CatalogSettings, 'models' | 'stoppedModels'> {
  return {
    models: files.filter((file) => !file.stopped).map(toModel),
    stoppedModels: files.filter((file) => file.stopped).map((file) => file.id),
  };
}

function toModel(file: ModelFile): ModelSettings {
  return {
    id: file.id,
    name: file.name ?? file.id,
    contextLength: checked(file.contextLength),
    maxOutputTokens: file.maxOutputTokens ?? null,
    inputModalities: file.inputModalities,
    endpoints: checked(file.endpoints).map(toEndpoint),
  };
}

function toEndpoint(file: EndpointFile): Endpoint {
  const { pricing } = file;
  return {
    providerId: file.provider,
    upstreamModel: file.model,
    contextLength: file.contextLength ?? null,
    maxOutputTokens: file.maxOutputTokens ?? null,
    prices: {
      prompt: checked(parseAttoUsd(pricing.prompt)),
      completion: checked(parseAttoUsd(pricing.completion)),
      request: toPrice(pricing.request) ?? 0n,
      cacheRead: toPrice(pricing.cacheRead),
      cacheWrite: toPrice(pricing.cacheWrite),
      cacheWrite1h: toPrice(pricing.cacheWrite1h),
      internalReasoning: toPrice(pricing.internalReasoning),
      image: toPrice(pricing.image),
      webSearch: toPrice(pricing.webSearch),
      overrides: pricing.overrides.map(
        (override): PriceOverride => ({
          minPromptTokens: override.minPromptTokens,
          prompt: toPrice(override.prompt),
          completion: toPrice(override.completion),
          cacheRead: toPrice(override.cacheRead),
          cacheWrite: toPrice(override.cacheWrite),
          cacheWrite1h: toPrice(override.cacheWrite1h),
        }),
      ),
    },
  };
}

/** `undefined`: the operator names none. */
export const formatsOf = ({ formats }: Pick<ProviderFile, 'formats'>): readonly FormatName[] | undefined =>
  formats && FORMAT_NAMES.filter((name) => formats.includes(FORMAT_PATHS[name]));

const toPrice = (text: string | undefined): AttoUsd | null =>
  text === undefined ? null : checked(parseAttoUsd(text));

export const toDollars = (text: string): NanoUsd => checked(parseNanoUsd(text));

function checked<T>(value: T | null | undefined): T {
  if (value === null || value === undefined)
    throw new Error('A configuration value passed its checks but is not there.');
  return value;
}
