import type { JsonObject } from './json-object.ts';

/**
 * What numbers may grow to where a server prints them anew into the prompt, as those of tools and schemas: `1e20` has
 * four bytes and 21 digits. Those beside the messages, caps among them, are in no prompt.
 */
export function printedNumberBytes(
  { hasExponent }: JsonObject,
  body: Readonly<Record<string, unknown>>,
): number {
  if (!hasExponent) return 0;
  let length = 0;
  for (const member of Object.values(body)) if (typeof member !== 'number') length += printedIn(member);
  return length;
}

/** Some print a whole number as a fraction. */
const FRACTION_BYTES = '.0'.length;

function printedIn(value: unknown): number {
  if (typeof value === 'number') return String(value).length + FRACTION_BYTES;
  if (typeof value !== 'object' || value === null) return 0;
  let length = 0;
  for (const inner of Array.isArray(value) ? value : Object.values(value)) length += printedIn(inner);
  return length;
}
