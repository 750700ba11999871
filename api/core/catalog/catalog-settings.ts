import type { Secret } from '../secret.ts';
import type { Endpoint, FormatName, ProviderCancel } from './catalog.ts';
import type { Dialect, ImageSource } from './dialect.ts';
import type { ImageModel } from './image-model.ts';
import type { ProviderKind } from './provider-kind.ts';
import type { VideoModel } from './video-model.ts';

/** The operator's part of the catalogue, checked: what the configuration says about providers and models. */
export interface CatalogSettings {
  /** The stop switch of the whole gateway. */
  stopped: boolean;
  providers: readonly ProviderSettings[];
  models: readonly ModelSettings[];
  /** Ids that are refused wherever they come from. */
  stoppedModels: readonly string[];
  videos: VideoSettings;
  images: ImageSettings;
}

/** Own models, their prices without the margin; ids that are refused; and what a list does not say of its models. */
export interface VideoSettings {
  models: readonly VideoModel[];
  stopped: readonly string[];
  changes: ReadonlyMap<string, Partial<Pick<VideoModel, 'name' | 'maxInputReferences' | 'extends'>>>;
}

export interface ImageSettings {
  models: readonly ImageModel[];
  stopped: readonly string[];
}

export interface ProviderSettings {
  id: string;
  kind: ProviderKind;
  formats: readonly FormatName[];
  cancel: ProviderCancel;
  dialect: Dialect;
  /** `null`: as the dialect has it. */
  images: ImageSource | null;
  /** Without a trailing slash. `null`: the simulator that this process starts itself. */
  baseUrl: string | null;
  apiKey: Secret | null;
  /** As its kind has read them. */
  settings: Readonly<Record<string, unknown>>;
  catalog: 'import' | 'none';
  priceFactorPpm: bigint;
  /** An imported price that moves by more at once is held back. */
  priceJumpPpm: bigint;
  /** An imported list that could not be fetched anew for longer is not served from. */
  listMaxAgeMs: number;
  stopped: boolean;
}

/** Prices stand as the provider takes them, the margin not yet in them. */
export interface ModelSettings {
  id: string;
  name: string;
  contextLength: number;
  maxOutputTokens: number | null;
  inputModalities: readonly string[];
  endpoints: readonly Endpoint[];
}

export const needsBundledSimulator = (settings: CatalogSettings): boolean =>
  settings.providers.some(
    (provider) => provider.kind.configuration.runsInProcess && provider.baseUrl === null,
  );
