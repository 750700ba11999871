/*
 * Records in the stream of a chat that say only that its server is still there, as some do to keep a connection alive. They are no part of
 * the answer.
 */

/**
 * Whether a record is nothing but a sign of life.
 *
 * @param names The names of its members.
 * @param memberOf The value of one of them; `undefined`: it has none of this name.
 */
export function isSignOfLife(names: readonly string[], memberOf: (name: string) => unknown): boolean {
  const choices = memberOf('choices') ?? null;
  if (choices !== null && !(Array.isArray(choices) && choices.length === 0)) return false;
  if (KINDS.some((name) => names.includes(name) && isSign(memberOf(name)))) return true;
  return choices === null && names.every((name) => name === 'type' || isSign(name));
}

/** Whether a member of this name, or a kind of record, is a sign of life. */
export const isSign = (word: unknown): boolean => typeof word === 'string' && SIGN.test(word);
const SIGN = /^(?:ping|pong|noop|keep[-_ ]?alive|heart[-_ ]?beat)$/i;

/** Members that name the kind of a record. */
const KINDS = ['type', 'event', 'object', 'status'];
