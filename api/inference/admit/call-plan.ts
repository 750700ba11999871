import type { Endpoint, Model, Provider } from '#core/catalog/catalog.ts';
import type { ToolNames } from '#core/conversation/conversation.ts';
import type { CallFormat, CallRequest, UpstreamFormat } from '../formats/call-format.ts';
import type { JsonObject } from '../json/json-object.ts';
import type { LinkedImage } from '../linked-images/linked-media.ts';
import type { PlacedTools, ServerTool } from '../server-tools/server-tools.ts';

/** One call, checked and resolved: what it asks, who may run it, and the bounds that its hold is made of. */
export interface CallPlan extends Omit<CallRequest, 'model' | 'fallbacks' | 'showUsage'> {
  showUsage: boolean;
  /** What the caller speaks. */
  format: CallFormat;
  body: JsonObject;
  /** The model as the caller named it first: what the call record shows. */
  model: Model;
  /** In the order in which they are tried. Never empty. */
  candidates: readonly Candidate[];
  /** No prompt of this call can be longer: its UTF-8 bytes, or the whole context where media are linked. */
  promptTokensMax: number;
  /** What an uncounted prompt is taken to be. */
  promptEstimateTokens: number;
  /** Betas of the messages format that the caller switched on; `null`: none. */
  betas: string | null;
  images: number;
  /** Those of them that a link leads to. */
  linkedImages: readonly LinkedImage[];
}

export interface Candidate {
  model: Model;
  endpoint: Endpoint;
  provider: Provider;
  /** What the provider is asked in. */
  format: UpstreamFormat;
  /** The caller's request in those words; `null`: in the caller's own. */
  translated: JsonObject | null;
  /** No prompt that the provider makes of the translation is longer; missing: it is in the caller's own words. */
  translatedTokensMax?: number;
  /** How the caller knows the tools, by their names in the translation; missing: by the same names. */
  toolNames?: ToolNames;
  /** The caller's names of arguments that have others in the translation; missing: they have the same. */
  argumentNames?: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** Fields of a messages body whose betas are not sent, so that they are not either. */
  betaFields: readonly string[];
  /** Fields of the translation that are sent, together with their betas; missing: none. */
  sentBetaFields?: readonly string[];
  /** The names of the fields that the provider is not sent, as the caller wrote them. */
  leftOut: readonly string[];
  /** The same of hints, which change no answer. */
  hints: readonly string[];
  /** The messages, the tools or the answer's format of a chat are not as the provider takes them. */
  editsChat: boolean;
  /** By how much its prompt is longer than the caller's, at most, through words that the gateway adds; missing: not at all. */
  addedTokens?: number;
  /** `:nitro` and the like, without the colon, for a provider that knows them. */
  suffixes: readonly string[];
  /** What the provider runs in the middle of the answer; `null`: nothing. */
  serverTools: PlacedTools | null;
  /** The tools that nobody at this endpoint runs, and that the model may do without. */
  unrunTools: readonly ServerTool[];
}
