import { isRecord } from '#core/is-record.ts';
import { parseExact } from './exact-json.ts';
import { answerBounds, scanJsonObject } from './json-object.ts';

/** An event of this size cannot nest deep enough to exhaust the stack of a reader, or to take JSON.parse long. */
const SHALLOW_BYTES = 4_096;

/** The object of one event, whose numbers keep their digits; `null`: it is none, or nests deeper than answers may. */
export const parseRecord = (data: Buffer): Record<string, unknown> | null => recordOf(data, parseExact);

/** The same for a reader of texts, to whom a number is a float. */
export const parseTexts = (data: Buffer): Record<string, unknown> | null => recordOf(data, JSON.parse);

function recordOf(data: Buffer, parse: (text: string) => unknown): Record<string, unknown> | null {
  if (data.length > SHALLOW_BYTES && scanJsonObject(data, answerBounds) === 'too_deep') return null;
  try {
    const value = parse(data.toString('utf8'));
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}
