import type { z } from 'zod';
import { isRecord } from '#core/is-record.ts';

type Parsed<T> =
  | { success: true; data: T }
  | { success: false; error: { issues: readonly z.core.$ZodIssue[] } };

/**
 * A body by its schema, whose long list is judged piece by piece, until one has a mistake: zod describes every mistake of a list,
 * which takes a tenth of a second for the 10,000 that four megabytes may hold, and the first is all that is shown.
 */
export function parseInPieces<T>(schema: z.ZodType<T>, body: unknown, list: string): Parsed<T> {
  const items = isRecord(body) ? body[list] : undefined;
  if (!isRecord(body) || !Array.isArray(items) || items.length <= PIECE_ITEMS) return schema.safeParse(body);
  for (let from = 0; from < items.length; from += PIECE_ITEMS) {
    const piece = { model: body.model, [list]: items.slice(from, from + PIECE_ITEMS) };
    const parsed = schema.safeParse(piece);
    if (!parsed.success)
      return { success: false, error: { issues: inWhole(parsed.error.issues, list, from) } };
  }
  return schema.safeParse(body);
}

const PIECE_ITEMS = 256;

/** The same mistakes where they stand in the whole list. */
const inWhole = (issues: readonly z.core.$ZodIssue[], list: string, from: number): z.core.$ZodIssue[] =>
  issues.map((issue) => {
    const [first, index, ...rest] = issue.path;
    return first === list && typeof index === 'number'
      ? { ...issue, path: [first, from + index, ...rest] }
      : issue;
  });
