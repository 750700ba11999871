import type { FormatName, UpstreamFormatName } from '#core/catalog/catalog.ts';
import type { Work } from '#core/steps.ts';
import type { ApiError } from '../../contract/errors.ts';
import type { CallPlan, Candidate } from '../admit/call-plan.ts';
import type { JsonObject } from '../json/json-object.ts';
import type { LinkRules, MediaCount } from '../linked-images/linked-media.ts';
import type { TextCount } from '../price/stream-text-count.ts';
import type { SentUsage, StreamUsage, Usage } from '../price/usage.ts';
import type { Hidden } from '../scrub/scrub-words.ts';
import type { ShownCharge } from './shown-changes.ts';

/** A format in which a provider is asked. */
export interface UpstreamFormat {
  name: UpstreamFormatName;
  buildBody(plan: CallPlan, candidate: Candidate, agentId: number): Work<Buffer>;
  /** A whole answer that came with status 200. */
  readAnswer(answer: JsonObject, value: Record<string, unknown>): AnswerReading;
  openStream(names: StreamNames): StreamReader;
  openAssembly(): Assembly;
  /** JSON text of the answer's id in a stream's first event; empty where it has none. */
  idOf(firstEvent: Buffer): string;
}

/** All that differs between the three wire formats. What a call does, and in which order, is the same for all. */
export interface CallFormat extends UpstreamFormat {
  name: FormatName;
  /** Of a parsed body: everything that decides what is asked and for how much. */
  readRequest(body: unknown): ReadRequest;
  /** Members that cap the answer: not part of the prompt. */
  capFields: ReadonlySet<string>;
  countMedia(body: Readonly<Record<string, unknown>>, rules: LinkRules): MediaCount | ApiError;
  /** Fields that may not stand in a body, or not so. */
  refuseFields(body: Readonly<Record<string, unknown>>): ApiError | null;
  /** Every door by which a tool can enter. */
  refuseTools(body: Readonly<Record<string, unknown>>): ApiError | null;
  /** A whole answer as the caller sees it. */
  showAnswer(answer: GoodAnswer, charge: StreamEndView, candidate: Candidate): Buffer;
  /**
   * The events that end a stream which failed after it had begun.
   *
   * @param shownEvents How many events came before, where a format numbers them.
   * @param plan Its body is repeated where a format's answers repeat the request.
   */
  streamError(
    identity: AnswerIdentity,
    error: ApiError,
    shownEvents: number,
    plan: Pick<CallPlan, 'body'>,
  ): Buffer;
}

export type ReadRequest = { ok: true; request: CallRequest } | { ok: false; error: ApiError };

/** A number of the request that bounds its answer, by its path. */
export interface OutputCap {
  field: string;
  tokens: number;
}

/** One request, in the words that all formats share. */
export interface CallRequest {
  model: string;
  /** Tried in order after `model`. */
  fallbacks: readonly string[];
  stream: boolean;
  /** A streamed chat shows its usage only where it was asked for. `null`: the body does not say. */
  showUsage: boolean | null;
  /** A chat may ask for an answer without the reasoning before it. */
  showReasoning: boolean;
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
  choices: number;
  hasTools: boolean;
}

export type AnswerReading =
  | ({ kind: 'answer' } & GoodAnswer)
  /** A provider can answer 200 with an error inside, and still bill for it. */
  | { kind: 'error'; usage: Usage | null }
  | { kind: 'malformed'; usage: Usage | null };

export interface GoodAnswer {
  answer: JsonObject;
  value: Record<string, unknown>;
  /** `null`: there is no record, or the gateway wrote the answer. */
  sent: SentUsage | null;
  /** There may be some beside the answer's own `usage`. False where the gateway wrote the answer. */
  hasOtherRecords: boolean;
  /** An estimate of its text, for an answer whose tokens the provider did not count. */
  deliveredTokens: number;
}

export interface StreamNames {
  upstreamModel: string;
  publicModel: string;
  showUsage: boolean;
  /** Of the provider's dialect. */
  vendorFields?: readonly string[];
  /** The words that no caller may read; missing where the gateway itself reads the stream and shows nothing of it. */
  hidden?: Hidden;
  /** Takes the place of an id that repeats something hidden, or is missing; absent where `hidden` is. */
  ownId?: string;
  /** Takes the place of a time that is missing. */
  createdAtS?: number;
  /** Members of a response that repeat the request, as JSON text. */
  echo?: () => string;
}

/** For what the gateway writes itself into a stream. */
export interface AnswerIdentity {
  id: string;
  createdAtS: number;
  /** When it is asked for. */
  nowS: number;
  model: string;
}

export interface StreamEndView extends ShownCharge {
  identity: AnswerIdentity;
}

/** Reads one stream's events in order, as far as the gateway has to know them, and keeps what is shown last. */
export interface StreamReader {
  /**
   * Of the `event:` lines whose events are passed on unread now unless a needle stands in them, the end. Empty: events
   * have no such line. `null`: every event is read.
   */
  readonly unreadLineEnd: Buffer | null;
  /** Events keep their `event:` lines; in a format without them, a provider's would be ours in the caller's eyes. */
  readonly namesEvents: boolean;
  /** Whether an event differs from one that passed unread in its text alone. It passes, too. */
  isKnown?(data: Buffer): boolean;
  /** Whether an event in which no needle stands is as its format has it, and passes unread. Absent where every event is read. */
  passes?(data: Buffer): boolean;
  /** The text that the answer has brought so far, shown or not. */
  readonly text: TextCount;
  /** How many events the caller was shown; absent or `null`: as many as the provider sent. */
  readonly eventsShown?: number | null;
  /** The usage records that came so far. */
  readonly records: StreamUsage;
  read(data: Buffer, eventName: string): ReadEvent;
  /**
   * What all records that were read say together. They are never summed: what comes later replaces what came before, unless it
   * is zero or absent.
   *
   * @param deliveredTokens The estimate of an answer that broke off before its last count.
   */
  usage(deliveredTokens: number): Usage | null;
  /** It may close now without an end mark. */
  isComplete(): boolean;
  /** The last bytes of a good stream: what was kept back, with its cost, and the end mark. */
  end(view: StreamEndView): Buffer;
}

/** Puts a stream together again, for a caller who waits for the whole answer. Every event is kept. */
export interface Assembly extends Omit<StreamReader, 'end'> {
  /** JSON, as the provider would have written it. `null`: the stream held no answer. */
  answer(): Buffer | null;
}

export type ReadEvent =
  /** Passes as it came. */
  | { kind: 'plain' }
  /** These whole events go out in its place. */
  | { kind: 'changed'; events: Buffer }
  /** Is shown at the end, or never. */
  | { kind: 'kept' }
  | { kind: 'done' }
  | { kind: 'malformed' }
  /** More than a process can keep of one answer. */
  | { kind: 'too_long' }
  | { kind: 'error' };
