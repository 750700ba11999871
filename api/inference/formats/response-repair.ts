import { isRecord } from '#core/is-record.ts';
import { RESPONSE_ITEMS_BYTES } from '#core/limits.ts';
import { mayBeInexact, plainNumber } from '../json/exact-json.ts';
import {
  type JsonObject,
  MemberChanges,
  memberBytes,
  memberText,
  rebuildJsonObject,
} from '../json/json-object.ts';
import { parseRecord } from '../json/parse-record.ts';
import type { ResponsesTextCount } from '../price/stream-text-count.ts';
import type { Hidden } from '../scrub/scrub-words.ts';
import type { EventNumbers } from './event-numbers.ts';
import { begunItem, eventsBeforeEnd, eventsInItem, type WriteEvent } from './events-of-response.ts';
import {
  emptyOf,
  type KnownItem,
  pieceKindOf,
  ResponseItems,
  type WholeItem,
  withMissingItems,
} from './response-items.ts';
import { namesOf, type ShownItem, ShownItems } from './shown-items.ts';
import { namedEvent, objectIn, typedEvent } from './stream-text.ts';
import { recordOf, records, textOf } from './values.ts';
import { itemsIn, readableMembers } from './whole-items.ts';

type Members = Record<string, unknown>;

/** The items of the last event: how many they are, and whether clients can read them. */
export interface LastItems {
  count: number;
  areReadable: boolean;
}

/** Pieces that came behind each other and differ in their text alone. */
interface Run {
  first: Readonly<Members>;
  /** The text of those behind the first. */
  text: string;
}

/**
 * Writes the events of a response in the way that OpenAI documents, where a server writes them otherwise: clients find an item by the
 * number and the id in its pieces, fail where they do not agree, and take the items of the last event for the whole answer. An event
 * that is as documented passes byte for byte. Which item an event belongs to is told as in the whole answer.
 */
export class ResponseRepair {
  readonly #text: ResponsesTextCount;
  readonly #numbers: EventNumbers;
  readonly #write: WriteEvent = (type, members) =>
    typedEvent(type, { sequence_number: this.#numbers.take(), ...members });
  #items = new ResponseItems();
  readonly #shown: ShownItems;
  #run: Run | null = null;
  #bytes = 0;
  /** There is more than may be kept, so all else passes as it comes. */
  #isFull = false;

  /**
   * @param ownId For ids of items that their server gives none.
   * @param provider No id may repeat its key or address; `undefined`: it is shown to nobody.
   */
  constructor(ownId: string, text: ResponsesTextCount, numbers: EventNumbers, provider?: Hidden['provider']) {
    this.#shown = new ShownItems(ownId, provider);
    this.#text = text;
    this.#numbers = numbers;
  }

  /** Whether a piece of an item is as documented. It counts as passed then. */
  passes(data: Buffer): boolean {
    const event = this.#isFull ? null : this.#text.see(data);
    if (event === null || this.#isMore(event)) return true;
    const kind = pieceKindOf(event.type);
    if (kind === undefined) return true;
    const item = this.#items.itemOf(event);
    const shown = item === null ? undefined : this.#shown.get(item);
    const part = partOf(event);
    if (shown === undefined || !isStandard(event, part, shown)) return false;
    shown.hasPieces = true;
    if (part !== null) shown.parts.add(part.key);
    this.#add(withDigits(event, data), typeof event.delta === 'string' ? 0 : data.length);
    this.#run = typeof event.delta === 'string' ? { first: event, text: '' } : null;
    return true;
  }

  /** The events in the place of one inside the answer; `null`: it is as documented. */
  repaired(data: Buffer, object: JsonObject): Buffer | null {
    const event = this.#isFull ? null : this.#text.see(data);
    if (event === null || (pieceKindOf(event.type) !== undefined && this.passes(data))) return null;
    const exact = withDigits(event, data);
    const item = this.#add(exact, data.length);
    if (item === null) return this.#isFull ? null : this.#beside(event, object);
    switch (event.type) {
      case 'response.output_item.added':
        return this.#added(item, event, object);
      case 'response.output_item.done':
        return this.#done(item, exact, object);
      default:
        return this.#piece(item, event, object);
    }
  }

  /**
   * The items of the answer, as JSON text, where those of the last event are others, or cannot be read by clients; `null`: they are
   * the same.
   */
  output(response: JsonObject, { count, areReadable }: LastItems): Buffer | null {
    const isWhole = count >= this.#items.count && !this.#shown.isChanged && areReadable;
    if (this.#isFull || isWhole) return null;
    this.#flush();
    const whole = this.#items.whole(memberText(response, 'status') !== '"incomplete"');
    const last = itemsIn(memberText(response, 'output') ?? '[]', this.#shown.ownId);
    const output = withMissingItems(
      last,
      whole.map(({ value }) => value),
    );
    if (output === last && !this.#shown.isChanged && areReadable) return null;
    const itemOf = new Map(whole.map(({ item, value }) => [value, item]));
    const byCall = itemsByCall(whole);
    const items = output.map((value, place) => {
      const own = itemOf.get(value);
      const known = this.#shown.get(own ?? nameOf(value, whole[place], byCall) ?? NO_ITEM);
      if (own !== undefined && known?.done) return known.done.toString('utf8');
      return JSON.stringify(known === undefined ? value : { ...value, ...namesOf(known) });
    });
    return Buffer.from(`[${items.join(',')}]`);
  }

  /** Most pieces are more of the one before. */
  #isMore(event: Readonly<Members>): boolean {
    const run = this.#run;
    if (run === null || typeof event.delta !== 'string') return false;
    const { first } = run;
    const isMore =
      event.type === first.type &&
      event.item_id === first.item_id &&
      event.output_index === first.output_index &&
      event.content_index === first.content_index &&
      event.summary_index === first.summary_index;
    if (!isMore) return false;
    run.text += event.delta;
    this.#count(event.delta.length);
    return true;
  }

  #flush(): void {
    const run = this.#run;
    this.#run = null;
    if (run !== null && run.text !== '') this.#items.add({ ...run.first, delta: run.text });
  }

  /** @param bytes Of what is kept of it, beside its text. */
  #add(event: Readonly<Members>, bytes: number): KnownItem | null {
    this.#flush();
    const before = this.#items.count;
    const item = this.#items.add(event);
    if (item === null) return null;
    this.#count(bytes + textOf(event.delta).length + (this.#items.count - before) * ITEM_BYTES);
    return this.#isFull ? null : item;
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= RESPONSE_ITEMS_BYTES || this.#isFull) return;
    this.#isFull = true;
    this.#run = null;
    this.#items = new ResponseItems();
    this.#shown.clear();
  }

  #added(item: KnownItem, event: Readonly<Members>, object: JsonObject): Buffer | null {
    // An item begins once.
    if (this.#shown.get(item) !== undefined) return NOTHING;
    const begun = recordOf(event.item);
    const shown = this.#shown.begin(item, event, textOf(begun.id), textOf(begun.call_id));
    const changes = new MemberChanges();
    for (const [name, value] of Object.entries(namesOf(shown)))
      if (begun[name] !== value) changes.set(name, JSON.stringify(value));
    for (const [name, empty] of Object.entries(emptyOf(item.type, shown.callId)))
      if ((begun[name] ?? null) === null || typeof begun[name] !== typeof empty)
        changes.set(name, JSON.stringify(empty));
    for (const list of ['content', 'summary']) {
      const parts = begun[list] ?? [];
      // A text that stands there comes in pieces, too.
      if (!isListOfRecords(parts)) changes.set(list, '[]');
      for (const number of records(parts).keys()) shown.parts.add(`${list} ${number}`);
    }
    return this.#withItem(event, object, shown.index, changes);
  }

  #done(item: KnownItem, event: Readonly<Members>, object: JsonObject): Buffer | null {
    const sent = recordOf(event.item);
    const done = item.done ?? sent;
    const known = this.#shown.get(item);
    const shown = known ?? this.#shown.begin(item, event, textOf(sent.id), textOf(sent.call_id));
    const whole: Members = { ...done, ...namesOf(shown), ...readableMembers(done) };
    const changes = new MemberChanges();
    for (const [name, value] of Object.entries(whole))
      if (value !== sent[name]) changes.set(name, JSON.stringify(value));
    this.#shown.isChanged ||= changes.keys.length > 0;
    shown.done = withMembers(object, changes);
    const at = { item_id: shown.id, output_index: shown.index };
    const before = ((): Buffer[] => {
      if (known === undefined) return eventsBeforeEnd(whole, shown.index, this.#write);
      return known.hasPieces || known.parts.size > 0 ? [] : eventsInItem(whole, at, this.#write);
    })();
    const end = this.#withItem(event, object, shown.index, changes);
    if (before.length === 0) return end;
    return Buffer.concat([...before, end ?? this.#numbered(event, object, new MemberChanges())]);
  }

  #piece(item: KnownItem, event: Readonly<Members>, object: JsonObject): Buffer {
    const before: Buffer[] = [];
    const write = this.#write;
    const known = this.#shown.get(item);
    // Only the whole of a call names it, so it begins then.
    if (known === undefined && pieceKindOf(event.type)?.member !== undefined) return NOTHING;
    const shown = known ?? this.#shown.begin(item, event, textOf(event.item_id));
    const { index, id } = shown;
    shown.hasPieces = true;
    if (known === undefined) {
      const begun = { id, type: item.type, status: 'in_progress', ...emptyOf(item.type, shown.callId) };
      before.push(write('response.output_item.added', { output_index: index, item: begunItem(begun) }));
    }
    const part = partOf(event);
    const at = part === null ? {} : { [part.numberName]: part.number };
    if (part !== null) {
      const hasBegun = shown.parts.has(part.key);
      shown.parts.add(part.key);
      // A part begins once.
      if (part.begins && hasBegun) return Buffer.concat(before);
      if (!part.begins && !hasBegun)
        before.push(write(part.added, { item_id: id, output_index: index, ...at, part: part.empty }));
    }
    const changes = new MemberChanges();
    if (event.item_id !== id) changes.set('item_id', JSON.stringify(id));
    if (event.output_index !== index) changes.set('output_index', String(index));
    if (part !== null && plainNumber(event[part.numberName]) !== part.number)
      changes.set(part.numberName, String(part.number));
    return Buffer.concat([...before, this.#numbered(event, object, changes)]);
  }

  /** An event about an item that brings nothing of it, such as the state of a search. */
  #beside(event: Readonly<Members>, object: JsonObject): Buffer | null {
    const item = event.item_id === undefined ? null : this.#items.under(event.output_index);
    const shown = item === null ? undefined : this.#shown.get(item);
    if (shown === undefined || (shown.id === event.item_id && shown.index === event.output_index))
      return null;
    const changes = new MemberChanges([
      ['item_id', JSON.stringify(shown.id)],
      ['output_index', String(shown.index)],
    ]);
    return this.#numbered(event, object, changes);
  }

  /** `null`: nothing changes. */
  #withItem(
    event: Readonly<Members>,
    object: JsonObject,
    index: number,
    ofItem: MemberChanges,
  ): Buffer | null {
    const changes = new MemberChanges();
    if (plainNumber(event.output_index) !== index) changes.set('output_index', String(index));
    if (ofItem.keys.length > 0) changes.set('item', withMembers(object, ofItem));
    return changes.keys.length === 0 ? null : this.#numbered(event, object, changes);
  }

  /** The event with these changes, under the next number. */
  #numbered(event: Readonly<Members>, object: JsonObject, changes: MemberChanges): Buffer {
    const sent = plainNumber(event.sequence_number);
    const number = this.#numbers.take(sent);
    if (number !== sent) changes.set('sequence_number', String(number));
    return namedEvent(textOf(event.type), rebuildJsonObject(object, changes));
  }
}

/** The event as it is kept and printed again. A piece of text has no number that is. */
function withDigits(event: Readonly<Members>, data: Buffer): Readonly<Members> {
  const isKept = isRecord(event.item) || isRecord(event.part) || isRecord(event.annotation);
  return isKept && mayBeInexact(data.toString('latin1')) ? (parseRecord(data) ?? event) : event;
}

const isListOfRecords = (value: unknown): boolean =>
  Array.isArray(value) && value.every((each) => isRecord(each));

const NOTHING = Buffer.alloc(0);
const NO_ITEM: KnownItem = { type: '', done: null };
/** An item in memory, beside its text. */
const ITEM_BYTES = 1_024;

/** The item of an event with some members changed; a copy. */
function withMembers(event: JsonObject, changes: MemberChanges): Buffer {
  const item = changes.keys.length === 0 ? null : objectIn(event, 'item');
  return item === null
    ? Buffer.from(memberBytes(event, 'item') ?? NOTHING)
    : rebuildJsonObject(item, changes);
}

function isStandard(event: Readonly<Members>, part: Part | null, { id, index, parts }: ShownItem): boolean {
  if (event.item_id !== id || event.output_index !== index) return false;
  if (part === null) return true;
  return event[part.numberName] === part.number && parts.has(part.key) !== part.begins;
}

/** The names that an item of the last event began with, where its server has others for it there. */
function nameOf(
  { call_id: callId, type }: Readonly<Members>,
  atPlace: WholeItem | undefined,
  byCall: ReadonlyMap<string, KnownItem>,
): KnownItem | undefined {
  return byCall.get(textOf(callId)) ?? (atPlace?.item.type === type ? atPlace?.item : undefined);
}

/** The first item of each call. */
function itemsByCall(whole: readonly WholeItem[]): ReadonlyMap<string, KnownItem> {
  const byCall = new Map<string, KnownItem>();
  for (const { item, value } of whole) {
    const callId = textOf(value.call_id);
    if (callId !== '' && !byCall.has(callId)) byCall.set(callId, item);
  }
  return byCall;
}

interface Part {
  key: string;
  number: number;
  numberName: 'content_index' | 'summary_index';
  /** The event itself begins it. */
  begins: boolean;
  /** The event that begins such a part, and the part as it begins. */
  added: string;
  empty: object;
}

/** `null`: the event is no piece of a part. */
function partOf(event: Readonly<Members>): Part | null {
  const kind = pieceKindOf(event.type);
  if (kind?.list === undefined) return null;
  const { list } = kind;
  const numberName = list === 'content' ? 'content_index' : 'summary_index';
  const sent = plainNumber(event[numberName]);
  const number = typeof sent === 'number' ? sent : 0;
  const added = list === 'content' ? 'response.content_part.added' : 'response.reasoning_summary_part.added';
  const said = isRecord(event.part) ? event.part : {};
  const type = kind.part?.type ?? said.type;
  return {
    key: `${list} ${number}`,
    number,
    numberName,
    begins: event.type === added,
    added,
    empty: emptyPartOf(type),
  };
}

function emptyPartOf(type: unknown): object {
  if (type === 'refusal') return { type, refusal: '' };
  return type === 'output_text' ? { type, text: '', annotations: [] } : { type, text: '' };
}
