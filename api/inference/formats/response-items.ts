import { isRecord } from '#core/is-record.ts';
import { plainNumber } from '../json/exact-json.ts';
import { records, textOf } from './values.ts';
import { saysNothing, withMissing } from './whole-message.ts';

type Members = Record<string, unknown>;

/** An item, to those who have to tell it from others. */
export type KnownItem = Readonly<Pick<Item, 'type' | 'done'>>;

export interface WholeItem {
  item: KnownItem;
  value: Readonly<Members>;
}

interface Item {
  /** The id that its pieces name; empty: they name none. */
  itemId: string;
  index: unknown;
  type: string;
  /** As it was when it was added; `null`: its first event was left out. */
  added: Readonly<Members> | null;
  /** The whole item; `null`: it has not come. */
  done: Readonly<Members> | null;
  /** Parts of its content and its summary, by their numbers. */
  content: Map<unknown, Members>;
  summary: Map<unknown, Members>;
  /** Texts of its own, such as arguments, by the names of their members. */
  texts: Map<string, string>;
}

/**
 * The items that the events of a response bring: whole ones, and those that are put together from their pieces, because some servers
 * send no whole ones. Servers give several items one number, or one id, or make up a new id for each event.
 */
export class ResponseItems {
  readonly #items: Item[] = [];
  /** The newest item under each number. */
  readonly #byIndex = new Map<unknown, Item>();
  /** The newest item with each id, of each call, and of each type. */
  readonly #byKey = new Map<string, Item>();

  get count(): number {
    return this.#items.length;
  }

  /** Returns the item that the event belongs to; `null`: it brings nothing of an item. */
  add(event: Readonly<Members>): KnownItem | null {
    const { type, item } = event;
    if (type === 'response.output_item.done') return isRecord(item) ? this.#done(event, item) : null;
    if (type === 'response.output_item.added') return isRecord(item) ? this.#added(event, item) : null;
    return this.#piece(event);
  }

  /** The item that an event is a piece of, before it is added; `null`: the event is no piece, or begins an item. */
  itemOf(event: Readonly<Members>): KnownItem | null {
    const kind = PIECES.get(textOf(event.type));
    return kind === undefined ? null : (this.#itemOf(kind, event) ?? null);
  }

  /** The newest item under a number. */
  under(index: unknown): KnownItem | null {
    return this.#byIndex.get(plainNumber(index)) ?? null;
  }

  /** @param isComplete The answer was not cut. */
  whole(isComplete: boolean): WholeItem[] {
    const isNumbered = this.#items.every(({ index }) => typeof index === 'number');
    const items = isNumbered
      ? this.#items.toSorted((a, b) => Number(a.index) - Number(b.index))
      : this.#items;
    return items.flatMap((item) => {
      const value = item.done ?? assembled(item, isComplete);
      return value === null ? [] : [{ item, value }];
    });
  }

  #done(event: Readonly<Members>, value: Members): Item {
    const fits = (item: Item): boolean => isSame(item, value);
    const isOpen = (item: Item): boolean => item.done === null && fits(item);
    const index = indexIn(event);
    const item =
      this.#withKey([callKey(value), idKey(value)], index, fits) ??
      this.#newest(index, isOpen) ??
      this.#withKey([textOf(value.type)], index, isOpen) ??
      this.#begin(event, value);
    item.done = withPieces(value, item);
    item.content.clear();
    item.summary.clear();
    item.texts.clear();
    return item;
  }

  #added(event: Readonly<Members>, value: Members): Item {
    const fits = (item: Item): boolean => isSame(item, value);
    const item =
      this.#withKey([callKey(value), idKey(value)], indexIn(event), fits) ?? this.#begin(event, value);
    item.added ??= value;
    return item;
  }

  #piece(event: Readonly<Members>): Item | null {
    const kind = PIECES.get(textOf(event.type));
    if (kind === undefined) return null;
    const item =
      this.#itemOf(kind, event) ?? this.#begin(event, { type: kind.types[0], id: textOf(event.item_id) });
    if (item.done !== null) return item;
    if (kind.member !== undefined) addText(item, kind.member, event);
    else addToPart(item, kind, event);
    return item;
  }

  #itemOf({ types }: PieceKind, event: Readonly<Members>): Item | undefined {
    const id = textOf(event.item_id);
    // More text behind the end of an item is that of another.
    const isDelta = textOf(event.type).endsWith('.delta');
    const fits = ({ type, done }: Item): boolean => types.includes(type) && !(isDelta && done !== null);
    const index = indexIn(event);
    const keys = types.map((type) => idKey({ type, id }));
    return this.#withKey(keys, index, fits) ?? this.#newest(index, fits);
  }

  /** The newest item with one of the keys, unless it has another number. */
  #withKey(keys: readonly string[], index: unknown, fits: (item: Item) => boolean): Item | undefined {
    for (const key of keys) {
      const item = key === '' ? undefined : this.#byKey.get(key);
      const isOfIndex = index === null || item?.index === null || item?.index === index;
      if (item !== undefined && isOfIndex && fits(item)) return item;
    }
    return undefined;
  }

  #newest(index: unknown, fits: (item: Item) => boolean): Item | undefined {
    const item = index === null ? this.#items.at(-1) : this.#byIndex.get(index);
    return item !== undefined && fits(item) ? item : undefined;
  }

  #begin(event: Readonly<Members>, value: Readonly<Members>): Item {
    const index = indexIn(event);
    const type = textOf(value.type);
    const item: Item = {
      ...{ type, itemId: textOf(event.item_id), index, added: null, done: null },
      ...{ content: new Map(), summary: new Map(), texts: new Map() },
    };
    this.#items.push(item);
    if (index !== null) this.#byIndex.set(index, item);
    for (const key of [callKey(value), idKey(value), type]) if (key !== '') this.#byKey.set(key, item);
    return item;
  }
}

const indexIn = ({ output_index: index }: Readonly<Members>): unknown =>
  index === undefined ? null : plainNumber(index);

/** An id alone does not make one item of two: some servers give one to all items, or to all calls. */
function isSame({ type, added, done }: Item, value: Members): boolean {
  const callId = textOf((done ?? added)?.call_id);
  return type === textOf(value.type) && (callId === '' || callId === (textOf(value.call_id) || callId));
}

export interface PieceKind {
  /** The types of the items that have such pieces; the first is that of an item whose first event was left out. */
  types: readonly string[];
  /** The item's own text that the event is a piece of, or the whole of. */
  member?: string;
  /** The list that has the part, and the part as it begins. */
  list?: 'content' | 'summary';
  part?: Readonly<Members>;
}

const MESSAGE = ['message'];
const REASONING = ['reasoning'];
const TEXT: PieceKind = { types: MESSAGE, list: 'content', part: { type: 'output_text', text: '' } };
const REFUSAL: PieceKind = { types: MESSAGE, list: 'content', part: { type: 'refusal', refusal: '' } };
const RAW: PieceKind = { types: REASONING, list: 'content', part: { type: 'reasoning_text', text: '' } };
const SUMMARY: PieceKind = { types: REASONING, list: 'summary', part: { type: 'summary_text', text: '' } };
const PART: PieceKind = { types: ['message', 'reasoning'], list: 'content' };
const ARGUMENTS: PieceKind = { types: ['function_call'], member: 'arguments' };
const INPUT: PieceKind = { types: ['custom_tool_call'], member: 'input' };
const MCP: PieceKind = { types: ['mcp_call'], member: 'arguments' };
const CODE: PieceKind = { types: ['code_interpreter_call'], member: 'code' };

const PIECES: ReadonlyMap<string, PieceKind> = new Map([
  ...both('response.output_text', TEXT),
  ...both('response.refusal', REFUSAL),
  ...both('response.reasoning_text', RAW),
  ...both('response.reasoning_summary_text', SUMMARY),
  ...both('response.function_call_arguments', ARGUMENTS),
  ...both('response.custom_tool_call_input', INPUT),
  ...both('response.mcp_call_arguments', MCP),
  ...both('response.code_interpreter_call_code', CODE),
  ['response.output_text.annotation.added', TEXT],
  ['response.content_part.added', PART],
  ['response.content_part.done', PART],
  ['response.reasoning_summary_part.added', SUMMARY],
  ['response.reasoning_summary_part.done', SUMMARY],
]);

/** `undefined`: such events are no pieces of items. */
export const pieceKindOf = (eventType: unknown): PieceKind | undefined => PIECES.get(textOf(eventType));

function both(name: string, kind: PieceKind): [string, PieceKind][] {
  return [
    [`${name}.delta`, kind],
    [`${name}.done`, kind],
  ];
}

/** A whole text replaces its pieces. */
function addText({ texts, added }: Item, member: string, event: Readonly<Members>): void {
  const whole = event[member];
  if (typeof whole === 'string') texts.set(member, whole);
  else texts.set(member, (texts.get(member) ?? textOf(added?.[member])) + textOf(event.delta));
  if (textOf(event.name) !== '') texts.set('name', textOf(event.name));
}

function addToPart(item: Item, { list = 'content', part: empty }: PieceKind, event: Readonly<Members>): void {
  const parts = item[list];
  const number = plainNumber(list === 'content' ? event.content_index : event.summary_index) ?? 0;
  if (isRecord(event.part)) {
    parts.set(number, event.part);
    return;
  }
  const known = parts.get(number);
  const part = known ?? { ...empty };
  const isOther = empty !== undefined && part.type !== empty.type;
  // A refusal may follow a text under the same number.
  const own = isOther ? { ...empty } : part;
  if (known === undefined || isOther) parts.set(isOther ? `${number} ${empty.type}` : number, own);
  const member = own.type === 'refusal' ? 'refusal' : 'text';
  const whole = event[member];
  if (isRecord(event.annotation)) annotationsIn(own).push(event.annotation);
  else own[member] = typeof whole === 'string' ? whole : textOf(own[member]) + textOf(event.delta);
}

/** The part's own list: to copy it for each of thousands would take quadratic time. */
function annotationsIn(part: Members): unknown[] {
  const known: unknown[] = Array.isArray(part.annotations) ? part.annotations : [];
  part.annotations = known;
  return known;
}

/** `null`: nothing has come of the item. */
function assembled(item: Item, isComplete: boolean): Readonly<Members> | null {
  const { type, itemId, added, content, summary, texts } = item;
  const isOfParts = type === 'message' || type === 'reasoning';
  if (isOfParts && !saysAnything(added) && content.size === 0 && summary.size === 0) return null;
  const status = isComplete ? 'completed' : 'incomplete';
  const base: Members = {
    ...(itemId === '' ? {} : { id: itemId }),
    type,
    ...emptyOf(type, itemId),
    ...added,
  };
  if (type !== 'reasoning' || base.status !== undefined) base.status = status;
  if (content.size > 0) base.content = [...content.values()].map(withAnnotations);
  if (summary.size > 0) base.summary = [...summary.values()];
  return { ...base, ...Object.fromEntries(texts) };
}

const withAnnotations = (part: Members): Members =>
  part.type === 'output_text' ? { annotations: [], ...part } : part;

const saysAnything = (added: Readonly<Members> | null): boolean =>
  textOf(added?.encrypted_content) !== '' ||
  [...records(added?.content), ...records(added?.summary)].some(({ text, refusal }) => text || refusal);

/** Some servers end an item without what its pieces have said. */
function withPieces(value: Members, { content, summary, texts }: Item): Members {
  const said: Members = Object.fromEntries(texts);
  if (content.size > 0) said.content = [...content.values()].map(withAnnotations);
  if (summary.size > 0) said.summary = [...summary.values()];
  const isLacking = Object.keys(said).some((name) => saysNothing(value[name]));
  return isLacking ? withMissing(value, said) : value;
}

/** The members that every item of its type has. */
export function emptyOf(type: string, callId: string): Readonly<Members> {
  switch (type) {
    case 'message':
      return { role: 'assistant', content: [] };
    case 'reasoning':
      return { summary: [] };
    case 'function_call':
      return { call_id: callId, name: '', arguments: '' };
    case 'custom_tool_call':
      return { call_id: callId, name: '', input: '' };
    default:
      return {};
  }
}

/**
 * The items of the last event, and those that came before it and are missing there. Ids that do not agree are no reason to say an item
 * twice, so an item also counts as the other one by the id of its call, and at last by its type.
 */
export function withMissingItems(
  last: readonly Readonly<Members>[],
  items: readonly Readonly<Members>[],
): readonly Readonly<Members>[] {
  if (last.length >= items.length) return last;
  const open = new Set(items);
  const found = new Map<Readonly<Members>, Readonly<Members>>();
  let unmatched = [...last];
  for (const keyOf of [idKey, callKey, saidKey, typeKey]) {
    const byKey = new Map<string, Readonly<Members>[]>();
    for (const item of [...open].reverse()) {
      const key = keyOf(item);
      if (key === '') continue;
      const ofKey = byKey.get(key);
      if (ofKey === undefined) byKey.set(key, [item]);
      else ofKey.push(item);
    }
    unmatched = unmatched.filter((item) => {
      const own = byKey.get(keyOf(item))?.pop();
      if (own === undefined) return true;
      open.delete(own);
      found.set(own, item);
      return false;
    });
  }
  return [...items.map((item) => found.get(item) ?? item), ...unmatched];
}

const idKey = ({ id, type }: Readonly<Members>): string =>
  textOf(id) === '' ? '' : `${textOf(type)} ${textOf(id)}`;
const callKey = ({ call_id: id }: Readonly<Members>): string =>
  textOf(id) === '' ? '' : `call ${textOf(id)}`;
const typeKey = ({ type }: Readonly<Members>): string => textOf(type);
const saidKey = ({ id: _id, status: _status, ...said }: Readonly<Members>): string => JSON.stringify(said);
