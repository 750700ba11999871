import type { z } from 'zod';
import { isRecord } from '#core/is-record.ts';

type Issue = z.core.$ZodIssue;
type Parsed<T> = { success: true; data: T } | { success: false; error: { issues: readonly Issue[] } };

/**
 * A body by its schema. Its long lists, the messages and the parts of each, are judged piece by piece, until one has a mistake:
 * zod describes every mistake of a list, which takes a tenth of a second for the 45,000 that four megabytes may hold, and
 * the first is all that is shown.
 * @param partsBeside The name of another list of parts, such as a system prompt.
 */
export function parseInPieces<T>(
  schema: z.ZodType<T>,
  body: unknown,
  list: string,
  partsBeside: string | null = null,
): Parsed<T> {
  const items = isRecord(body) ? body[list] : undefined;
  if (!isRecord(body) || !Array.isArray(items)) return schema.safeParse(body);
  const beside = partsBeside === null ? undefined : body[partsBeside];
  if (isShort(items) && !isLong(beside)) return schema.safeParse(body);
  for (const piece of piecesOf(items)) {
    const parsed = schema.safeParse({ model: body.model, [list]: piece.items });
    if (!parsed.success) return failed(parsed.error.issues, (issue) => inWhole(issue, list, piece));
  }
  const name = partsBeside ?? '';
  const first = items.slice(0, 1).map((item) => withParts(item, partsIn(item)?.slice(0, 1)));
  for (const { parts, from } of partsOf(beside)) {
    const parsed = schema.safeParse({ model: body.model, [list]: first, [name]: parts });
    if (!parsed.success) return failed(parsed.error.issues, (issue) => shifted(issue, [name], from));
  }
  // The lists are judged, so the other fields are judged with the begin of each.
  const begin = { ...body, [list]: items.slice(0, 1).map(beginOf) };
  if (isLong(beside)) begin[name] = beside.slice(0, 1);
  const parsed = schema.safeParse(begin);
  if (!parsed.success) return failed(parsed.error.issues, (issue) => issue);
  const whole = { [list]: items, ...(isLong(beside) ? { [name]: beside } : {}) };
  return { success: true, data: Object.assign(parsed.data as object, whole) as T };
}

/** An item with the first of its parts. */
function beginOf(item: unknown): unknown {
  const parts = partsIn(item);
  return parts === undefined ? item : withParts(item, parts.slice(0, 1), true);
}

const failed = (issues: readonly Issue[], inWhole: (issue: Issue) => Issue): Parsed<never> => ({
  success: false,
  error: { issues: issues.map(inWhole) },
});

const PIECE_ITEMS = 256;
/** The items of a piece have fewer parts together than this and one item's. */
const PIECE_PARTS = 16_384;
const isLong = (list: unknown): list is unknown[] => Array.isArray(list) && list.length > PIECE_ITEMS;
const partsIn = (item: unknown): unknown[] | undefined =>
  isRecord(item) && Array.isArray(item.content) ? item.content : undefined;

function isShort(items: readonly unknown[]): boolean {
  if (items.length > PIECE_ITEMS) return false;
  let partCount = 0;
  for (const item of items) {
    const ownCount = partsIn(item)?.length ?? 0;
    if (ownCount > PIECE_ITEMS) return false;
    partCount += ownCount;
  }
  return partCount < PIECE_PARTS;
}

interface Piece {
  items: unknown[];
  /** The index of its first item in the whole list. */
  from: number;
  /** The index of its first part in the whole item, if the piece is a part of one item; else 0. */
  partsFrom: number;
}

/** An item with many parts is in pieces of its own. */
function* piecesOf(items: readonly unknown[]): Generator<Piece> {
  let from = 0;
  let partCount = 0;
  for (const [at, item] of items.entries()) {
    const ownParts = partsIn(item);
    partCount += ownParts?.length ?? 0;
    if (isLong(ownParts)) {
      if (at > from) yield { items: items.slice(from, at), from, partsFrom: 0 };
      for (const { parts, from: partsFrom } of partsOf(ownParts))
        yield { items: [withParts(item, parts, partsFrom === 0)], from: at, partsFrom };
    } else if (at - from === PIECE_ITEMS - 1 || partCount >= PIECE_PARTS) {
      yield { items: items.slice(from, at + 1), from, partsFrom: 0 };
    } else continue;
    from = at + 1;
    partCount = 0;
  }
  if (from < items.length) yield { items: items.slice(from), from, partsFrom: 0 };
}

/**
 * An item with other parts. Only its first piece has all fields: an item may have 20,000, and they would be judged with each of
 * its pieces again. The others have the field that a format requires.
 */
function withParts(item: unknown, parts: unknown[] | undefined, withAllFields = false): unknown {
  if (!isRecord(item)) return item;
  if (withAllFields) return { ...item, content: parts };
  return { role: item.role, content: parts ?? item.content };
}

/** The pieces of a long list; a shorter list, and all else, has none. */
function* partsOf(list: unknown): Generator<{ parts: unknown[]; from: number }> {
  if (!isLong(list)) return;
  for (let from = 0; from < list.length; from += PIECE_ITEMS)
    yield { parts: list.slice(from, from + PIECE_ITEMS), from };
}

/** The same mistake where it stands in the whole list. A union of a text and a list tells the item's index in its branches. */
const inWhole = (issue: Issue, list: string, { from, partsFrom }: Piece): Issue =>
  shifted(shifted(issue, [list], from), [list, from, 'content'], partsFrom);

/** The first index behind `prefix` is that much larger, also where a union tells the mistakes of each of its branches. */
function shifted(issue: Issue, prefix: readonly PropertyKey[], by: number): Issue {
  const { path } = issue;
  if (by === 0 || prefix.some((step, at) => path.length > at && path[at] !== step)) return issue;
  if (path.length <= prefix.length) {
    if (issue.code !== 'invalid_union' || issue.inclusive === false) return issue;
    const rest = prefix.slice(path.length);
    const errors = issue.errors.map((branch) => branch.map((inner) => shifted(inner, rest, by)));
    return { ...issue, errors };
  }
  const index = path[prefix.length];
  if (typeof index !== 'number') return issue;
  return { ...issue, path: [...prefix, index + by, ...path.slice(prefix.length + 1)] };
}
