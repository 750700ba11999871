import { isRecord } from '#core/is-record.ts';
import { parseJson } from '#core/parse-json.ts';
import { plainNumber } from '../json/exact-json.ts';
import {
  answerBounds,
  type JsonObject,
  MemberChanges,
  memberText,
  rebuildJsonObject,
  scanJsonObject,
} from '../json/json-object.ts';
import { parseRecord, parseTexts } from '../json/parse-record.ts';
import type { EventTextCount, SeenEvent, SplitEvent } from '../price/stream-text-count.ts';
import { mayTellHidden } from '../scrub/hidden-forms.ts';
import { FrameCheck, frameChanges } from '../scrub/scrub-answer.ts';
import type { Hidden } from '../scrub/scrub-words.ts';
import { ANSWERED_BY } from './chat-answer.ts';
import { choiceIndexOf } from './choice-ends.ts';
import { presentMember } from './stream-text.ts';
import { StreamedChoice } from './streamed-choice.ts';
import { recordOf, records, textOf } from './values.ts';

type Chunk = Record<string, unknown>;

/** The finding about chunks that differ in their text alone. */
export type ChunkNote =
  /** As documented, and passed without being read. */
  | 'unread'
  /** As documented, and read for what else is in it. */
  | 'standard'
  | RepairedFrame;

interface RepairedFrame {
  /** One of the chunks, repaired. */
  repaired: Buffer;
  /** The same without its text; `undefined`: it was not split yet, `null`: it cannot be. */
  pieces: SplitEvent | null | undefined;
}

interface OwnNames {
  /** The id of an answer that its server gives none. */
  ownId: string;
  createdAtS: number;
  publicModel: string;
  /** The words that no caller may read; `undefined`: there are none. */
  hidden: Hidden | undefined;
}

/**
 * Writes the chunks of a chat stream in the way that OpenAI documents, where a server writes them otherwise: clients join calls by their
 * numbers, drop chunks without an id, and fail at choices without an index or a delta. A chunk that is as documented passes byte for
 * byte. The count of the text parses what differs from earlier chunks in more than its text, so nothing is parsed for the check alone.
 */
export class ChunkRepair {
  readonly #names: OwnNames;
  readonly #text: EventTextCount<ChunkNote>;
  readonly #frameCheck: FrameCheck | null;
  readonly #choices = new Map<number, StreamedChoice>();
  /** The names of the answer, each from the first chunk that has it. */
  #id = '';
  #created: number | null = null;
  #model = '';
  /** Chunks before the first that names the answer. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;

  constructor(names: OwnNames, text: EventTextCount<ChunkNote>) {
    this.#names = names;
    this.#text = text;
    this.#frameCheck = names.hidden === undefined ? null : new FrameCheck(names.hidden, true);
  }

  /** The provider's name of the model; empty: it has not told one. */
  get model(): string {
    return this.#model;
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Whether a chunk differs in its text alone from one that passed unread. */
  isKnown(data: Buffer): boolean {
    return this.#text.see(data).note === 'unread';
  }

  /** Whether a chunk may pass unread. One that differs from earlier ones may have the provider's key or address in any member. */
  passesUnread(data: Buffer): boolean {
    const seen = this.#text.see(data);
    if ((seen.note === null && this.#mayTell(data)) || !this.passes(data)) return false;
    if (seen.note === 'standard') this.#text.note(seen, 'unread');
    return true;
  }

  #mayTell(data: Buffer): boolean {
    const { hidden } = this.#names;
    return hidden !== undefined && mayTellHidden(data, hidden);
  }

  /** Whether a chunk is as documented. It counts as passed then. */
  passes(data: Buffer): boolean {
    const seen = this.#text.see(data);
    if (seen.note !== null) return typeof seen.note === 'string';
    const chunk = seen.value ?? parseTexts(data);
    if (chunk === null) return true;
    // Clients read the list of every chunk, also of one that has nothing to say in it.
    if (!Array.isArray(chunk.choices)) return false;
    if (!this.#isStandardFrame(chunk) || !chunk.choices.every((choice) => this.#isStandard(choice)))
      return false;
    this.#noteFrame(chunk);
    const choices = records(chunk.choices);
    for (const choice of choices) this.#choice(choiceIndexOf(choice)).note(choice);
    // The first chunk alone has the role, so one like it is another matter.
    const isRepeatable = choices.every(({ delta }) => recordOf(delta).role === undefined);
    if (isRepeatable && !this.#mayTell(data)) this.#text.note(seen, 'standard');
    return true;
  }

  /**
   * Returns a chunk as documented; `null`: it waits for the name of the answer.
   *
   * @param data The chunk as it came.
   * @param shown The part of it that the caller may see.
   */
  repaired(data: Buffer, shown: Buffer): Buffer | null {
    if (this.passes(data)) return shown;
    const seen = this.#text.see(data);
    return this.#byFrame(seen) ?? this.#repairedChunk(seen, shown);
  }

  /** Whether the server has ended all choices that it has begun. */
  get isEnded(): boolean {
    return this.#choices.size > 0 && [...this.#choices.values()].every(({ isEnded }) => isEnded);
  }

  /** The chunks that waited for the name of the answer. */
  released(): Buffer[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    return waiting.map((chunk) => this.named(chunk));
  }

  /** The last chunk of choices that their server has not ended; `null`: nothing is missing. */
  rest(): Buffer | null {
    const choices = [...this.#choices].flatMap(([index, choice]): readonly object[] => {
      const rest = choice.rest(index, this.#idOf(index));
      return rest === null ? [] : [rest];
    });
    if (choices.length === 0) return null;
    const { publicModel, createdAtS } = this.#names;
    const created = this.#created ?? createdAtS;
    const model = this.#model || publicModel;
    return Buffer.from(JSON.stringify({ id: this.#answerId, object: OBJECT, created, model, choices }));
  }

  /** The chunk under the names of the answer. */
  named(chunk: Buffer): Buffer {
    const shown = this.#withoutHidden(chunk);
    const object = scanJsonObject(shown, answerBounds);
    if (typeof object === 'string') return shown;
    const frame = frameOf(object);
    return this.#isStandardFrame(frame) ? shown : this.#rebuilt(object, frame, null);
  }

  /** The chunk without what its frame tells of the provider. */
  #withoutHidden(chunk: Buffer): Buffer {
    const { hidden, ownId } = this.#names;
    const object = hidden === undefined ? 'not_an_object' : scanJsonObject(chunk, answerBounds);
    if (hidden === undefined || typeof object === 'string') return chunk;
    const changes = new MemberChanges(frameChanges(object, hidden, ownId));
    const isNamed = presentMember(object, 'provider') !== null && changes.get('provider') !== null;
    if (!isNamed && memberText(object, 'provider') !== undefined)
      changes.set('provider', JSON.stringify(ANSWERED_BY));
    return changes.keys.length === 0 ? chunk : rebuildJsonObject(object, changes);
  }

  /** All chunks of one answer have one id and one name of the model. */
  #isStandardFrame(chunk: Chunk): boolean {
    const { id, object, created, model } = chunk;
    const check = this.#frameCheck;
    const mayPass = check === null || (chunk.provider !== null && check.mayPass(chunk));
    const isNamed = textOf(id) !== '' && (this.#id === '' || id === this.#id);
    const isOfModel = textOf(model) !== '' && (this.#model === '' || model === this.#model);
    return mayPass && isNamed && isOfModel && object === OBJECT && isTime(created);
  }

  #isStandard(choice: unknown): boolean {
    if (!isRecord(choice)) return true;
    return choice.index === choiceIndexOf(choice) && this.#choice(choiceIndexOf(choice)).isStandard(choice);
  }

  /** Repairs a chunk by the bytes of an earlier one. */
  #byFrame({ data, frame, note }: SeenEvent<ChunkNote>): Buffer | null {
    if (frame === null || note === null || typeof note === 'string') return null;
    note.pieces ??= note.pieces === undefined ? this.#text.split(note.repaired, frame.firstTextBytes) : null;
    if (note.pieces === null) return null;
    const text = data.subarray(frame.before.length, data.length - frame.behind.length);
    return Buffer.concat([note.pieces.before, text, note.pieces.behind]);
  }

  #repairedChunk(seen: SeenEvent<ChunkNote>, sent: Buffer): Buffer | null {
    const shown = this.#withoutHidden(sent);
    const chunk = parseRecord(shown);
    if (chunk === null) return shown;
    const choices = records(chunk.choices);
    this.#noteFrame(chunk);
    if (this.#id === '' && choices.length === 0 && this.#waitingBytes < WAITING_BYTES_MAX) {
      this.#waiting.push(shown);
      this.#waitingBytes += shown.length;
      return null;
    }
    // The first chunk of the answer does not name it, so it keeps the name that it gets here.
    this.#id ||= this.#names.ownId;
    const repaired = choices.map((choice) => {
      const index = choiceIndexOf(choice);
      return this.#choice(index).repaired(choice, index, this.#idOf(index));
    });
    const list = repaired.map(({ choice }) => choice);
    const object = scanJsonObject(shown, answerBounds);
    const rebuilt = typeof object === 'string' ? shown : this.#rebuilt(object, chunk, list);
    if (repaired.every(({ isRepeatable }) => isRepeatable))
      this.#text.note(seen, { repaired: rebuilt, pieces: undefined });
    return rebuilt;
  }

  /** @param choices `null`: they stay as they are. */
  #rebuilt(object: JsonObject, chunk: Chunk, choices: readonly object[] | null): Buffer {
    const changes = new MemberChanges();
    const { publicModel, createdAtS } = this.#names;
    const model = this.#model || publicModel;
    if (chunk.id !== this.#answerId) changes.set('id', JSON.stringify(this.#answerId));
    if (chunk.object !== OBJECT) changes.set('object', JSON.stringify(OBJECT));
    if (!isTime(chunk.created)) changes.set('created', String(this.#created ?? createdAtS));
    if (chunk.model !== model) changes.set('model', JSON.stringify(model));
    if (choices !== null) changes.set('choices', JSON.stringify(choices));
    return rebuildJsonObject(object, changes);
  }

  #noteFrame({ id, created, model }: Chunk): void {
    this.#id ||= textOf(id);
    this.#model ||= textOf(model);
    if (this.#created === null && isTime(created)) this.#created = Number(plainNumber(created));
  }

  #choice(index: number): StreamedChoice {
    const known = this.#choices.get(index) ?? new StreamedChoice(this.#names.hidden?.provider);
    this.#choices.set(index, known);
    return known;
  }

  get #answerId(): string {
    return this.#id || this.#names.ownId;
  }

  /** Several answers to one request have one id, and their calls must not have one, too. */
  #idOf(index: number): string {
    return index === 0 ? this.#answerId : `${this.#answerId} ${index}`;
  }
}

const OBJECT = 'chat.completion.chunk';

/** The members of a chunk that name its answer, without the time that it takes to parse all others. */
function frameOf(object: JsonObject): Chunk {
  const frame: Chunk = {};
  for (const name of FRAME) frame[name] = parseJson(memberText(object, name) ?? 'null');
  return frame;
}

const FRAME = ['id', 'object', 'created', 'model'];
/** Chunks without a choice that wait for the name of the answer. */
const WAITING_BYTES_MAX = 65_536;

/** Azure's first chunk says 0, before anything is known. */
const isTime = (value: unknown): boolean => {
  const number = plainNumber(value);
  return Number.isSafeInteger(number) && number !== 0;
};
