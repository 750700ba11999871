import { isRecord } from '#core/is-record.ts';
import { plainNumber } from '../json/exact-json.ts';

/**
 * Lays a piece of a streamed answer over what came before: texts are joined, lists go by the `index` and the `type` of their
 * entries or grow, everything else is replaced. So a field that appears next month is put together like those of today.
 */
export function mergeDelta(whole: Record<string, unknown>, delta: Readonly<Record<string, unknown>>): void {
  for (const name in delta) {
    const piece = delta[name];
    if (name === '__proto__') continue;
    const known = whole[name];
    if (typeof piece === 'string' && typeof known === 'string') {
      // Some servers send later pieces with an empty name, which says nothing.
      whole[name] = SAID_ONCE.has(name) ? piece || known : known + piece;
    } else if (name === 'thinking_blocks' && Array.isArray(known) && Array.isArray(piece))
      joinBlocks(known, piece);
    else whole[name] = merged(Object.hasOwn(whole, name) ? known : undefined, piece);
  }
}

/** LiteLLM streams a block in pieces without a number, of which the last one has the signature. */
function joinBlocks(blocks: unknown[], pieces: readonly unknown[]): void {
  for (const piece of pieces) {
    const last = blocks.at(-1);
    const isMore = isThinking(last) && isThinking(piece) && (last.signature ?? '') === '';
    if (isMore) mergeDelta(last, piece);
    else blocks.push(piece);
  }
}

const isThinking = (block: unknown): block is Record<string, unknown> =>
  isRecord(block) && block.type === 'thinking';

function merged(known: unknown, piece: unknown): unknown {
  if (known === undefined || known === null) return Array.isArray(piece) ? mergedList([], piece) : piece;
  if (piece === null) return known;
  if (Array.isArray(piece) && Array.isArray(known)) return mergedList(known, piece);
  if (!isObject(piece) || !isObject(known)) return piece;
  mergeDelta(known, piece);
  return known;
}

/** A number that keeps its digits is an object to JavaScript, and a value to everybody else. */
const isObject = (value: unknown): value is Record<string, unknown> =>
  isRecord(value) && !JSON.isRawJSON(value);

/** Names of things: repeated by some servers in every piece. */
const SAID_ONCE: ReadonlySet<string> = new Set([
  'id',
  'type',
  'role',
  'name',
  'format',
  'signature',
  'thought_signature',
  'status',
]);

/** Entries of each list by their index: to search them for each piece would take minutes where a provider numbers on and on. */
const entriesOf = new WeakMap<unknown[], Map<unknown, Record<string, unknown>[]>>();

function mergedList(known: unknown[], pieces: readonly unknown[]): unknown[] {
  const entries = entriesIn(known);
  for (const piece of pieces) {
    if (!isRecord(piece) || (piece.index ?? null) === null) {
      known.push(piece);
      continue;
    }
    const index = plainNumber(piece.index);
    const ofIndex = entries.get(index);
    const entry = ofIndex?.find((each) => isOfType(each, piece));
    if (entry !== undefined) mergeDelta(entry, piece);
    else {
      if (ofIndex === undefined) entries.set(index, [piece]);
      else if (ofIndex.length < TYPES_MAX) ofIndex.push(piece);
      known.push(piece);
    }
  }
  return known;
}

/** A signature under the index of the reasoning that it signs is an entry of its own. */
const isOfType = (entry: Readonly<Record<string, unknown>>, piece: Readonly<Record<string, unknown>>) =>
  entry.type === piece.type || (entry.type ?? '') === '' || (piece.type ?? '') === '';

/** Types of entries under one index that are told from each other. */
const TYPES_MAX = 16;

function entriesIn(list: unknown[]): Map<unknown, Record<string, unknown>[]> {
  const known = entriesOf.get(list);
  if (known !== undefined) return known;
  const entries = new Map<unknown, Record<string, unknown>[]>();
  for (const each of list) {
    if (!isRecord(each)) continue;
    const index = plainNumber(each.index);
    const ofIndex = entries.get(index);
    if (ofIndex === undefined) entries.set(index, [each]);
    else if (ofIndex.length < TYPES_MAX) ofIndex.push(each);
  }
  entriesOf.set(list, entries);
  return entries;
}
