import { isRecord } from '#core/is-record.ts';
import { parseJson } from '#core/parse-json.ts';
import {
  answerBounds,
  type JsonObject,
  MemberChanges,
  memberBytes,
  memberText,
  rebuildJsonObject,
  scanJsonObject,
} from '../json/json-object.ts';
import { REASONING_NAMES } from '../price/answer-part.ts';
import { AnswerText, addChat } from '../price/answer-text.ts';
import { EventTextCount, needlesOf, type TextCount } from '../price/stream-text-count.ts';
import type { StreamUsage, Usage } from '../price/usage.ts';
import type { AnswerIdentity, ReadEvent, StreamEndView, StreamNames, StreamReader } from './call-format.ts';
import {
  ANSWERED_BY,
  hasNoChoices,
  isBareFrame,
  isErrorEvent,
  isFrameMember,
  isLastChunk,
  namesSources,
} from './chat-answer.ts';
import { ChatUsage } from './chat-usage.ts';
import { type ChunkNote, ChunkRepair } from './chunk-repair.ts';
import { isOfAnotherFormat } from './foreign-events.ts';
import { PublicModelName } from './public-model-name.ts';
import { shownUsage } from './shown-changes.ts';
import { isSign, isSignOfLife } from './signs-of-life.ts';
import { CHOICES_NEEDLE, dataEvent, isDone, isPlainChunk, looksLikeObject } from './stream-text.ts';
import { mayHoldRecord, usageRecordsIn, withoutUsage } from './usage-places.ts';

/** A stream of chunks. Its usage comes last, in a chunk of its own, or is not shown at all. */
export class ChatStream implements StreamReader {
  readonly namesEvents = false;
  readonly #eventText = new EventTextCount<ChunkNote>(TEXT_NEEDLES, addChat);
  readonly text: TextCount = this.#eventText;
  readonly #names: StreamNames;
  /** `null`: the gateway reads the stream itself, and knows every way of writing one. */
  readonly #repair: ChunkRepair | null;
  readonly #vendorFields: readonly string[];
  readonly #modelName: PublicModelName | null;
  /** A router's clients want the name of a provider, which they take from any chunk. The first one that is shown decides who tells it. */
  #provider: 'untold' | 'ours' | 'theirs';
  #usageChunk: JsonObject | null = null;
  readonly #usage = new ChatUsage();
  readonly #textBytes: () => number;
  /** The text of the answer up to its last record, the chunk of the record included; `null`: nothing is to be compared any more. */
  #countedTextBytes: number | null = null;

  /** @param textBytes The text so far, for a reader that counts it by itself. */
  constructor(names: StreamNames, textBytes?: () => number) {
    this.#names = names;
    this.#textBytes = textBytes ?? (() => this.text.bytes);
    this.#vendorFields = names.vendorFields ?? [];
    const { ownId, createdAtS = 0, upstreamModel, publicModel, hidden } = names;
    this.#modelName = upstreamModel === publicModel ? null : new PublicModelName(upstreamModel, publicModel);
    this.#provider = hidden === undefined ? 'theirs' : 'untold';
    this.#repair =
      ownId === undefined
        ? null
        : new ChunkRepair({ ownId, createdAtS, publicModel, hidden }, this.#eventText);
  }

  get unreadLineEnd(): Buffer | null {
    const isRead = this.#modelName !== null || this.#provider === 'untold' || this.#vendorFields.length > 0;
    return isRead ? null : NO_LINE;
  }

  isKnown(data: Buffer): boolean {
    return this.#repair?.isKnown(data) === true && !this.#repair.isWaiting;
  }

  passes(data: Buffer): boolean {
    if (data.indexOf(CHOICES_NEEDLE) < 0) return false;
    return this.#repair === null || (!this.#repair.isWaiting && this.#repair.passesUnread(data));
  }

  /**
   * Reads an event only where a needle says that it may carry usage or an error, or has no choices; everything else is told apart by its
   * first and last byte. A quoted word inside the answer's text has its quote escaped and is no needle.
   */
  read(data: Buffer, eventName: string): ReadEvent {
    if (isDone(data)) {
      this.#noteText();
      this.#countedTextBytes = null;
      return { kind: 'done' };
    }
    if (eventName === 'error') return { kind: 'error' };
    if (!looksLikeObject(data)) return { kind: isErrorEvent(data, null) ? 'error' : 'malformed' };
    const plain = isPlainChunk(data) ? data : withoutLastNull(data);
    if (plain !== null) return this.#pass(data, plain);
    const object = scanJsonObject(data, answerBounds);
    if (typeof object === 'string') return { kind: 'malformed' };
    const records = usageRecordsIn(object);
    const isError = isErrorEvent(data, object);
    if (!isError && isOfAnotherFormat(object, 'chat')) return { kind: 'malformed' };
    if (records.length === 0) return isError ? { kind: 'error' } : this.#passUncounted(data, object);
    // Rare, and rewritten by us: unlike the plain ones it is checked whole.
    const value = parseJson(data.toString('utf8'));
    if (!isError && !isRecord(value)) return { kind: 'malformed' };
    this.#usageChunk = object;
    this.#count(records, object, isRecord(value) ? value : {});
    if (isError) return { kind: 'error' };
    const changes = withoutUsage(object);
    if (!hasNoChoices(object)) return this.#passChunk(data, object, changes);
    if (this.#names.showUsage || !namesSources(object)) return { kind: 'kept' };
    // Clients that ask for no usage read the first choice of every chunk.
    changes.set('choices', NOTHING_SAID);
    return this.#passChunk(data, object, changes);
  }

  #count(records: readonly Buffer[], object: JsonObject, chunk: Record<string, unknown>): void {
    this.#noteText();
    const own = new AnswerText();
    addChat(own, chunk);
    this.#countedTextBytes = this.#textBytes() + own.bytes;
    this.#usage.add(records, { isLast: isLastChunk(object), hasText: own.bytes > 0 });
  }

  /** Most chunks pass unread, so only the text itself tells whether some of it came after the last record. */
  #noteText(): void {
    if (this.#countedTextBytes === null || this.#textBytes() <= this.#countedTextBytes) return;
    this.#usage.textFollows();
    this.#countedTextBytes = null;
  }

  get records(): StreamUsage {
    return this.#usage.records;
  }

  usage(deliveredTokens: number): Usage | null {
    this.#noteText();
    return this.#usage.usage(deliveredTokens);
  }

  /** As it came. */
  get usageRecord(): JsonObject | null {
    return this.records.object;
  }

  isComplete(): boolean {
    this.#noteText();
    // Some servers count nothing and mark no end, but say why the answer ends.
    return this.#usage.isComplete() || this.#repair?.isEnded === true;
  }

  end(view: StreamEndView): Buffer {
    const rest = this.#repair?.rest() ?? null;
    const last = rest === null ? NO_LINE : dataEvent(this.#named(this.#withoutVendor(rest)));
    if (!this.#names.showUsage) return Buffer.concat([last, END_MARK]);
    return Buffer.concat([last, dataEvent(this.#lastChunk(view)), END_MARK]);
  }

  /** The provider's own usage chunk with our cost; where it sent none, one of the counts that the charge was made of. */
  #lastChunk({ identity, ...charge }: StreamEndView): Buffer {
    const { object, usage } = this.records;
    const record = object === null ? null : { object, tokens: usage?.tokens ?? null };
    const shown = shownUsage('chat', record, charge);
    if (this.#usageChunk === null)
      return usageChunk({ ...identity, model: this.#shownModel(identity.model) }, shown);
    const changes = withoutUsage(this.#usageChunk);
    changes.set('choices', '[]');
    changes.set('usage', shown);
    if (this.#provider === 'ours') changes.set('provider', JSON.stringify(ANSWERED_BY));
    const chunk = rebuildJsonObject(this.#usageChunk, changes);
    const named = this.#withoutVendor(this.#repair?.named(chunk) ?? chunk);
    return this.#modelName?.shownIn(named) ?? named;
  }

  /** All chunks name the model as the first one that names it: a provider may answer with the name of a version. */
  #shownModel(publicModel: string): string {
    const model = this.#repair?.model ?? '';
    return model === '' || model === this.#names.upstreamModel ? publicModel : model;
  }

  /** A needle stood in it, but no record: `"usage":null`, which some servers write into every chunk, or another word. */
  #passUncounted(data: Buffer, object: JsonObject): ReadEvent {
    if (saysNothing(object)) return { kind: 'kept' };
    if (memberBytes(object, 'usage') === undefined && !mayHoldRecord(data)) return this.#pass(data, data);
    if (hasNoChoices(object) && isBareFrame(object)) return { kind: 'kept' };
    const hidden = withoutUsage(object);
    return hidden.keys.length === 0 ? this.#pass(data, data) : this.#passChunk(data, object, hidden);
  }

  #passChunk(data: Buffer, object: JsonObject, changes: MemberChanges): ReadEvent {
    const shown = rebuildJsonObject(object, changes);
    const repaired = this.#repair === null ? shown : this.#repair.repaired(data, shown);
    return repaired === null ? { kind: 'kept' } : this.#changed(this.#withoutVendor(repaired));
  }

  /** @param plain The part of the chunk that the caller may see. */
  #pass(data: Buffer, plain: Buffer): ReadEvent {
    const repaired = this.#repair === null ? plain : this.#repair.repaired(data, plain);
    if (repaired === null) return { kind: 'kept' };
    const shown = this.#withoutVendor(repaired);
    const isPlain = shown === data && this.#modelName === null && this.#provider !== 'untold';
    return isPlain && this.#repair?.isWaiting !== true ? PLAIN : this.#changed(shown);
  }

  #withoutVendor(chunk: Buffer): Buffer {
    const isTelling = this.#vendorFields.some((field) => chunk.indexOf(`"${field}"`) >= 0);
    const object = isTelling ? scanJsonObject(chunk, answerBounds) : 'not_an_object';
    if (typeof object === 'string') return chunk;
    return rebuildJsonObject(object, new MemberChanges(this.#vendorFields.map((field) => [field, null])));
  }

  /** Chunks that waited for the name of the answer come before the one that has it. */
  #changed(chunk: Buffer): ReadEvent {
    if (this.#repair?.isWaiting !== true) return { kind: 'changed', events: dataEvent(this.#named(chunk)) };
    const waiting = this.#repair.released().map((each) => this.#withoutVendor(each));
    const events = [...waiting, chunk].map((each) => dataEvent(this.#named(each)));
    return { kind: 'changed', events: Buffer.concat(events) };
  }

  /** With the caller's own name of the model in the place of the provider's, and the name of a provider. */
  #named(data: Buffer): Buffer {
    const renamed = this.#modelName?.shownIn(data) ?? data;
    if (this.#provider !== 'untold' || renamed.length <= EMPTY_OBJECT_BYTES) return renamed;
    this.#provider = namesProvider(renamed) ? 'theirs' : 'ours';
    if (this.#provider === 'theirs') return renamed;
    return Buffer.concat([renamed.subarray(0, 1), PROVIDER, renamed.subarray(1)]);
  }
}

function namesProvider(chunk: Buffer): boolean {
  const object = chunk.indexOf('"provider"') < 0 ? 'not_an_object' : scanJsonObject(chunk, answerBounds);
  return typeof object !== 'string' && memberBytes(object, 'provider') !== undefined;
}

const PROVIDER = Buffer.from(`"provider":${JSON.stringify(ANSWERED_BY)},`);
const EMPTY_OBJECT_BYTES = 2;
const TEXT_NEEDLES = needlesOf(['content', ...REASONING_NAMES, 'refusal']);
const NO_LINE = Buffer.alloc(0);
const PLAIN: ReadEvent = { kind: 'plain' };
const NOTHING_SAID = '[{"index":0,"delta":{},"finish_reason":null}]';
const END_MARK = Buffer.from('data: [DONE]\n\n');
const LAST_NULL = Buffer.from(',"usage":null}');
const CLOSE = Buffer.from('}');

function saysNothing(object: JsonObject): boolean {
  const names = object.members.map(({ key }) => key);
  if (isSignOfLife(names, (name) => parseJson(memberText(object, name) ?? 'null'))) return true;
  const isFrame = names.every((name) => name === 'type' || isSign(name) || isFrameMember(name));
  return isFrame && memberText(object, 'choices') === undefined;
}

/** Many servers end every chunk so. `null`: this one does not, or there may be more to read in it. */
function withoutLastNull(data: Buffer): Buffer | null {
  const from = data.length - LAST_NULL.length;
  if (from < 0 || data.compare(LAST_NULL, 0, LAST_NULL.length, from) !== 0) return null;
  const rest = data.subarray(0, from);
  return isPlainChunk(rest) ? Buffer.concat([rest, CLOSE]) : null;
}

function usageChunk({ id, createdAtS, model }: AnswerIdentity, usage: Buffer): Buffer {
  const frame = JSON.stringify({
    id,
    object: 'chat.completion.chunk',
    created: createdAtS,
    model,
    provider: ANSWERED_BY,
    choices: [],
  });
  return Buffer.concat([Buffer.from(`${frame.slice(0, -1)},"usage":`), usage, CLOSE]);
}
