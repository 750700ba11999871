import { z } from 'zod';

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
