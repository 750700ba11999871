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
  if (items.length <= PIECE_ITEMS && !items.some(hasManyParts) && !isLong(beside))
    return schema.safeParse(body);
  for (const piece of piecesOf(items)) {
    const parsed = schema.safeParse({ model: body.model, [list]: piece.items });
    if (!parsed.success) return failed(parsed.error.issues, (issue) => inWhole(issue, list, piece));
  }
  for (const { parts, from } of partsOf(beside)) {
    const name = partsBeside ?? '';
    const parsed = schema.safeParse({ model: body.model, [list]: items.slice(0, 1), [name]: parts });
    if (!parsed.success) return failed(parsed.error.issues, (issue) => shifted(issue, [name], from));
  }
  return schema.safeParse(body);
}

const failed = (issues: readonly Issue[], inWhole: (issue: Issue) => Issue): Parsed<never> => ({
  success: false,
  error: { issues: issues.map(inWhole) },
});

const PIECE_ITEMS = 256;
const isLong = (list: unknown): list is unknown[] => Array.isArray(list) && list.length > PIECE_ITEMS;
const hasManyParts = (item: unknown): item is { content: unknown[] } =>
  isRecord(item) && isLong(item.content);

interface Piece {
  items: unknown[];
  /** Where they begin in the list, and where the parts of the only one of them begin. */
  from: number;
  partsFrom: number;
}

/** An item with many parts is in pieces of its own. */
function* piecesOf(items: readonly unknown[]): Generator<Piece> {
  let from = 0;
  for (const [at, item] of items.entries()) {
    if (hasManyParts(item)) {
      if (at > from) yield { items: items.slice(from, at), from, partsFrom: 0 };
      for (const { parts, from: partsFrom } of partsOf(item.content))
        yield { items: [{ ...item, content: parts }], from: at, partsFrom };
      from = at + 1;
    } else if (at - from === PIECE_ITEMS - 1) {
      yield { items: items.slice(from, at + 1), from, partsFrom: 0 };
      from = at + 1;
    }
  }
  if (from < items.length) yield { items: items.slice(from), from, partsFrom: 0 };
}

/** Of a list that is long; of all else nothing. */
function* partsOf(list: unknown): Generator<{ parts: unknown[]; from: number }> {
  if (!isLong(list)) return;
  for (let from = 0; from < list.length; from += PIECE_ITEMS)
    yield { parts: list.slice(from, from + PIECE_ITEMS), from };
}

/** The same mistake where it stands in the whole list. */
function inWhole(issue: Issue, list: string, { from, partsFrom }: Piece): Issue {
  const inList = shifted(issue, [list], from);
  const index = inList.path[1];
  return index === undefined ? inList : shifted(inList, [list, index, 'content'], partsFrom);
}

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
