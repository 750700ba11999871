import type { Endpoint, Model, Provider } from '#core/catalog/catalog.ts';
import type { CallFormat, OutputCap } from '../formats/call-format.ts';
import type { JsonObject } from '../json/json-object.ts';
import type { LinkedImage } from '../linked-images/linked-media.ts';
import type { PlacedTools } from '../server-tools/server-tools.ts';

/** One call, checked and resolved: what it asks, who may run it, and the bounds that its hold is made of. */
export interface CallPlan {
  /** What the caller speaks. */
  format: CallFormat;
  body: JsonObject;
  stream: boolean;
  /** A streamed caller who did not ask for usage sees none. */
  showUsage: boolean;
  /** Of a translated answer: a router leaves it out itself where it was asked to. */
  showReasoning: boolean;
  /** The model as the caller named it first: what the call record shows. */
  model: Model;
  /** In the order in which they are tried. Never empty. */
  candidates: readonly Candidate[];
  /** No prompt of this call can be longer: its UTF-8 bytes, or the whole context where media are linked. */
  promptTokensMax: number;
  /** What an uncounted prompt is taken to be. */
  promptEstimateTokens: number;
  /** The caller's cap on the answer; `null`: none was sent. */
  outputTokensCap: number | null;
  /** The field that carried the cap, named in messages. */
  outputCapField: string;
  /** Every cap that the caller sent. */
  outputCaps: readonly OutputCap[];
  /** Budgets of reasoning, which may be used beyond the cap. */
  budgets: readonly OutputCap[];
  /** Tokens billed as output beyond the cap: rejected predictions. */
  extraOutputTokens: number;
  images: number;
  /** Those of them that a link leads to. */
  linkedImages: readonly LinkedImage[];
  choices: number;
  hasTools: boolean;
}

export interface Candidate {
  model: Model;
  endpoint: Endpoint;
  provider: Provider;
  /** What the provider is asked in. */
  format: CallFormat;
  /** The caller's request in those words; `null`: in the caller's own. */
  translated: JsonObject | null;
  /** `:nitro` and the like, without the colon, for a provider that knows them. */
  suffixes: readonly string[];
  /** What the provider runs in the middle of the answer; `null`: nothing. */
  serverTools: PlacedTools | null;
}
