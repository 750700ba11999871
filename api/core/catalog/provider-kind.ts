import type { LookedUpPrice } from '../calls/look-up-price.ts';
import type { NanoUsd } from '../money.ts';
import type { FormatName, Provider } from './catalog.ts';
import type { Dialect } from './dialect.ts';

/**
 * All that is particular to one kind of provider. Each kind has a folder in `api/providers` and a line in its registry; the
 * rest of the gateway asks these members and never the name.
 */
export interface ProviderKind {
  /** As `kind` in the configuration names it. */
  readonly name: string;
  readonly capabilities: ProviderCapabilities;
  readonly configuration: KindConfiguration;
  /** The headers by which a provider knows the gateway, sent with every request. None of them comes from a caller. */
  headers(provider: Pick<Provider, 'formats' | 'apiKey'>): Readonly<Record<string, string>>;
  /** Where an answer is asked for, below the provider's address, with a slash in front. */
  answerPath(asked: AskedAnswer): string;
  /**
   * Changes a request just before it is sent. A kind needs it if it signs the body, if its key is a token that expires, or if its
   * body is in none of the three formats. `null`: the request goes as it is. A rejection counts as an unreachable provider.
   */
  readonly prepare:
    | ((provider: Provider, request: AnswerRequest) => AnswerRequest | Promise<AnswerRequest>)
    | null;
  /**
   * Opens what turns one answer into the asked format: its bytes, its errors, and where it counts its usage. `null`: the provider
   * answers in that format, as far as the shared readers understand it.
   */
  readonly openAdapter: ((asked: AskedAnswer) => AnswerAdapter) | null;
  /** Where the provider describes the key that asks, which it tells nobody else. `null`: nowhere. */
  readonly keyPath: string | null;
  /** What the provider has billed the key so far. `null`: it has no interface for that. */
  readonly bill: BillPage | null;
  /** What the provider charged for one answer, once the call has ended. `null`: it keeps no such record. */
  readonly price: PriceRecord | null;
}

export interface AskedAnswer {
  format: FormatName;
  upstreamModel: string;
  stream: boolean;
}

export interface AnswerRequest {
  /** Below the provider's address, with a slash in front. */
  path: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

/**
 * Turns the bytes of one answer into bytes of the format that was asked for: JSON, or server-sent events. Binary frames, another
 * shape of errors and usage in another place all end here. Whatever it throws counts as an answer that broke off.
 */
export interface AnswerAdapter {
  /** The status line is here. Returns the content type of what follows, as the gateway must read it. */
  begin(status: number, contentType: string): string;
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
  /** The dialect of a server at this address, where the operator names none. */
  dialectAt(baseUrl: string): Dialect;
  /** The formats of a provider whose configuration names none. */
  formats(dialect: Dialect): readonly FormatName[];
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
