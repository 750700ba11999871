import type { ZodType } from 'zod';
import type { LookedUpPrice } from '../calls/look-up-price.ts';
import type { OwnFormat } from '../conversation/own-format.ts';
import type { NanoUsd } from '../money.ts';
import type { FormatName, Model, Provider, UpstreamFormatName } from './catalog.ts';
import type { Dialect } from './dialect.ts';
import type { ImageModel } from './image-model.ts';
import type { ImportedList, ListReading } from './import-source.ts';
import type { VideoModel } from './video-model.ts';

/**
 * All that is particular to one kind of provider. Each kind has a folder in `api/providers` and a line in its registry; the
 * rest of the gateway asks these members and never the name.
 */
export interface ProviderKind {
  /** As `kind` in the configuration names it. */
  readonly name: string;
  readonly capabilities: ProviderCapabilities;
  readonly configuration: KindConfiguration;
  /**
   * The headers by which a provider knows the gateway, sent with every request and kept for as long as the provider is configured so.
   * None of them comes from a caller. A provider with several keys is given once for each. `prepare` changes what each request changes.
   */
  headers(provider: Pick<Provider, 'formats' | 'apiKey' | 'settings'>): Readonly<Record<string, string>>;
  /**
   * Where an answer is asked for, below the provider's address, with a slash in front, and with a query where the provider wants one.
   * `prepare` adds what depends on the key or the settings.
   */
  answerPath(asked: AskedAnswer): string;
  /**
   * Changes any request just before it is sent: calls, probes, lists, bills and records. A kind needs it if it signs what it sends or
   * if its key is a token that expires. `null`: requests go as they are. A rejection counts as an unreachable provider.
   */
  readonly prepare:
    | ((provider: Provider, request: ProviderRequest) => ProviderRequest | Promise<ProviderRequest>)
    | null;
  /** Its own format. `null`: its providers speak some of the three formats. */
  readonly ownFormat: OwnFormat | null;
  /**
   * Opens what turns one answer into the asked format: its bytes, its errors, and where it counts its usage. `null`: the provider
   * answers in that format, as far as the shared readers understand it.
   */
  readonly openAdapter: ((asked: AskedAnswer) => AnswerAdapter) | null;
  /**
   * How the lists are read in which a provider publishes its models with their prices. A kind without any takes those of
   * another, and says `mayImport: false`.
   */
  readonly lists: ModelLists;
  /** Where the provider describes the key that asks, which it tells nobody else. `null`: nowhere. */
  readonly keyPath: string | null;
  /** What the provider has billed the key so far. `null`: it has no interface for that. */
  readonly bill: BillPage | null;
  /** What the provider charged for one answer, once the call has ended. `null`: it keeps no such record. */
  readonly price: PriceRecord | null;
}

export interface AskedAnswer {
  format: UpstreamFormatName;
  upstreamModel: string;
  stream: boolean;
}

export interface ProviderRequest {
  method: 'GET' | 'POST';
  /** Below the provider's address, with a slash in front. */
  path: string;
  headers: Readonly<Record<string, string>>;
  /** Empty in a GET. */
  body: Buffer;
}

/** Names in small letters. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Turns the bytes of one answer into bytes of the format that was asked for: JSON, or server-sent events. Binary frames, another
 * shape of errors and usage in another place all end here. Whatever it throws counts as an answer that broke off.
 */
export interface AnswerAdapter {
  /** The status line is here. Returns the headers as the gateway must read them: the content type of what follows, waits and ids. */
  begin(status: number, headers: ResponseHeaders): ResponseHeaders;
  /** Returns the bytes that can be passed on by now, possibly none. */
  data(chunk: Buffer): Buffer;
  /** The provider's answer is complete. Returns the last bytes. */
  end(): Buffer;
}

/** What the gateway may rely on at every provider of a kind. */
export interface ProviderCapabilities {
  /**
   * It routes a call to one of many vendors, by fields of the body (`provider`, `plugins`, suffixes of the model) that plain
   * servers refuse or do not know.
   */
  routesBetweenVendors: boolean;
  /** It says with each answer what it charges. Otherwise the gateway prices the tokens that it counts. */
  reportsCost: boolean;
  /** The tools that run in the middle of an answer: a router's engines, the search of the vendor's own models, or none. */
  serverTools: 'router' | 'own' | 'none';
  /** It has files read for models that cannot, at a price that no hold covers. */
  readsFilesForModels: boolean;
  /** Some of its models search without being asked, once an answer. */
  searchesUnasked: boolean;
  /** It makes images and videos, in the format of the router. */
  makesMedia: boolean;
}

/** What the configuration of a provider of a kind may leave out, and what it may not say. */
export interface KindConfiguration {
  /**
   * Settings of a provider of this kind beside those that all providers have, such as a region, each
   * with a description (`.meta`). No secrets.
   */
  settings: Readonly<Record<string, ZodType>>;
  /** Its own address, for a provider that names none. `null`: it has none. */
  baseUrl: string | null;
  /** Without an address it runs in the gateway's own process. */
  runsInProcess: boolean;
  /** The default for `catalog`: import where the provider's list of models has prices. */
  catalog: 'import' | 'none';
  /** `catalog: import` is possible. */
  mayImport: boolean;
  /** Calls fail without a key. */
  needsKey: boolean;
  /** The dialects that an operator may name. `null`: all of its servers are alike. */
  dialects: Readonly<Record<string, Dialect>> | null;
  /** The dialect of a server at this address, where the operator names none: `plainDialect` where all are alike. */
  dialectAt(baseUrl: string): Dialect;
  /** The configuration by a key in the environment and nothing else. `null`: there is none. */
  fromKey: { variable: string; baseUrl: string | null; models: readonly KnownModel[] } | null;
  /** The formats of a provider whose configuration names none. */
  formats(dialect: Dialect): readonly FormatName[];
}

/** A model whose price is known without asking the vendor. */
export interface KnownModel {
  /** Without the vendor's name. */
  id: string;
  /** The vendor's own id, if it differs. */
  upstreamModel?: string;
  name: string;
  /** Default: text and images. */
  inputModalities?: string[];
  tokens: readonly [contextLength: number, maxOutputTokens: number];
  /** Dollars per token. */
  prices: readonly [
    prompt: string,
    completion: string,
    cacheRead: string,
    cacheWrite?: string,
    cacheWrite1h?: string,
  ];
  /** Dollars for a search that the model runs itself. */
  webSearch?: string;
}

export interface ModelLists {
  models: {
    path: string;
    /** `null`: it is no such list, or none of it can be served; then the caller keeps the list that it has. */
    read(answer: unknown, providerId: string, nowMs: number): ImportedList<Model> | null;
  };
  videoModels(from: ListReading<VideoModel>): Promise<ImportedList<VideoModel> | null>;
  imageModels(from: ListReading<ImageModel>): Promise<ImportedList<ImageModel> | null>;
}

export interface BillPage {
  path: string;
  /** `null`: the page cannot be read. */
  read(page: unknown): NanoUsd | null;
}

export interface PriceRecord {
  path(generationId: string): string;
  /** `null`: the record is not there yet, or is not plausible. */
  read(record: unknown): LookedUpPrice | null;
}
