import { z } from 'zod';
import { type NanoUsd, parseNanoUsd } from '#core/money.ts';

/** Exact dollars as text: a float would lose nano-dollars. */
export const usdText = () =>
  z
    .string()
    .regex(/^\d+(\.\d{1,9})?$/)
    .meta({ description: 'US dollars, exact.', examples: ['12.5'] });

/**
 * `usage.cost`: the one amount that is a JSON number. It is written from exact text, never computed as a
 * float.
 */
export const usdNumber = () =>
  z.number().nonnegative().meta({ description: 'US dollars; exactly what leaves the balance.' });

/**
 * Dollars from `min` to `max`, exact to the nano-dollar. `null`: the text is no such amount. It has no exponent, so that it says
 * the amount to the eye.
 */
export function parseUsd(text: string, min: NanoUsd, max: NanoUsd): NanoUsd | null {
  const nanoUsd = /^\d+(\.\d+)?$/.test(text) ? parseNanoUsd(text) : null;
  return nanoUsd !== null && nanoUsd >= min && nanoUsd <= max ? nanoUsd : null;
}
