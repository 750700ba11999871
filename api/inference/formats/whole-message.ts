import { isRecord } from '#core/is-record.ts';
import { REASONING_NAMES } from '../price/answer-part.ts';

/*
 * Messages that a server sends twice in one stream: in pieces, and as a whole beside them or at the end. The pieces are what a
 * caller of the stream has seen, so they count, and the whole one gives what no piece has said.
 */

/** The first message, with the members of the other one that it lacks or leaves empty. */
export function withMissing(
  message: Readonly<Record<string, unknown>>,
  other: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const whole = { ...message };
  const isReasoned = REASONING_NAMES.some((name) => !saysNothing(message[name]));
  for (const [name, value] of Object.entries(other)) {
    if (name === '__proto__') continue;
    // The same reasoning may stand under another name already.
    if (isReasoned && kindOfMember(name) === REASONING && saysNothing(message[name])) continue;
    if (!Object.hasOwn(whole, name) || (saysNothing(whole[name]) && !saysNothing(value))) whole[name] = value;
  }
  return whole;
}

const REASONING = 'reasoning';
const NAMES: ReadonlySet<string> = new Set(REASONING_NAMES);

/** The kind of thing that a member of a message says: servers have several names for the same reasoning. */
export const kindOfMember = (name: string): string => (NAMES.has(name) ? REASONING : name);

export const saysNothing = (value: unknown): boolean =>
  (value ?? '') === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (isRecord(value) && Object.keys(value).length === 0);
