import type { AttoUsd } from '../money.ts';
import type { Dialect } from './dialect.ts';
import type { ImageModel } from './image-model.ts';
import type { ProviderKind } from './provider-kind.ts';
import type { VideoModel } from './video-model.ts';

/** What can be called, through whom, and at which price. Read on every call; replaced whole on reload. */
export interface Catalog {
  /** By the id without suffix. */
  find(modelId: string): CatalogEntry;
  models(): readonly Model[];
  findVideoModel(modelId: string): CatalogEntry<VideoModel>;
  videoModels(): readonly VideoModel[];
  findImageModel(modelId: string): CatalogEntry<ImageModel>;
  imageModels(): readonly ImageModel[];
  provider(providerId: string): Provider | undefined;
  providers(): readonly Provider[];
  /** The operator's stop switch of the whole gateway. */
  gatewayStopped(): boolean;
}

export type CatalogEntry<M = Model> =
  | { status: 'served'; model: M }
  /** Listed upstream but not ours to serve: free, batch, retired, a router, or stopped by the operator. */
  | { status: 'not_served' }
  | { status: 'unknown'; nearest: string[] }
  /** Its list is too old to be believed; or it is not listed, but a list is missing, or all are too old: it may exist. */
  | { status: 'unavailable' };

export type ProviderCancel = 'stops_billing' | 'bills_full';

/** A wire format of inference. */
export type FormatName = 'chat' | 'responses' | 'messages';

/** In which format a provider is asked: `own` is the format that its kind speaks alone. */
export type UpstreamFormatName = FormatName | 'own';

/** The path of each format in the public API, which the configuration and the records of calls name it by. */
export const FORMAT_PATHS = {
  chat: 'chat/completions',
  responses: 'responses',
  messages: 'messages',
} as const satisfies Readonly<Record<FormatName, string>>;

export const FORMAT_NAMES = Object.keys(FORMAT_PATHS) as FormatName[];

export interface Provider {
  id: string;
  kind: ProviderKind;
  /** Those that it speaks itself. Calls in the others are translated, so chat or messages is always among them. A kind with a format of its own has none. */
  formats: readonly FormatName[];
  /**
   * Whether it stops working, and billing, when the connection of a stream is closed. Then a hang-up closes it at once, and a
   * whole answer is streamed from it, too.
   */
  cancel: ProviderCancel;
  dialect: Dialect;
  /** Without a trailing slash; paths such as `/chat/completions` are appended. */
  baseUrl: string;
  apiKey: string | null;
  /** What its configuration says beside what all providers say, as its kind has read it. */
  settings: Readonly<Record<string, unknown>>;
  /** The operator's margin in parts per million; already inside every price below. */
  priceFactorPpm: bigint;
  stopped: boolean;
}

export interface Model {
  id: string;
  name: string;
  contextLength: number;
  /** `null`: as long as the context allows. */
  maxOutputTokens: number | null;
  inputModalities: readonly string[];
  createdAtMs: number | null;
  about: ModelAbout | null;
  /** In the order in which they are tried. Never empty. */
  endpoints: readonly Endpoint[];
}

/** What a provider's list says of a model besides: shown in ours, of no other effect. */
export interface ModelAbout {
  description: string | null;
  supportedParameters: readonly string[];
  /** Efforts and defaults of models that think. */
  reasoning: Readonly<Record<string, unknown>> | null;
  /** `YYYY-MM-DD`, its last day. */
  expiresOn: string | null;
}

/** One way to run a model. */
export interface Endpoint {
  providerId: string;
  upstreamModel: string;
  contextLength: number | null;
  maxOutputTokens: number | null;
  prices: Prices;
}

/** Atto-dollars per unit, the operator's margin included. `null`: the model does not bill for it apart. */
export interface Prices {
  prompt: AttoUsd;
  completion: AttoUsd;
  request: AttoUsd;
  cacheRead: AttoUsd | null;
  cacheWrite: AttoUsd | null;
  /** For an hour, where `cacheWrite` is for less; `null`: the same. */
  cacheWrite1h: AttoUsd | null;
  internalReasoning: AttoUsd | null;
  image: AttoUsd | null;
  webSearch: AttoUsd | null;
  /** Other prices under conditions, such as a long prompt; the hold takes the dearest of all. */
  overrides: readonly PriceOverride[];
}

export interface PriceOverride {
  /** Applies to prompts of strictly more tokens; `null`: conditions that cannot be known beforehand. */
  minPromptTokens: number | null;
  prompt: AttoUsd | null;
  completion: AttoUsd | null;
  cacheRead: AttoUsd | null;
  cacheWrite: AttoUsd | null;
  cacheWrite1h: AttoUsd | null;
}
