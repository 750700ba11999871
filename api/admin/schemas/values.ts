import { z } from 'zod';
import { isLabel } from '#core/label.ts';
import { ADMIN_ROWS_MAX, LABEL_CHARS_MAX } from '#core/limits.ts';
import { type NanoUsd, parseNanoUsd } from '#core/money.ts';
import { parseUsd } from '../../contract/money.ts';

/** A whole number in a path or a query, where it comes as text. */
export function wholeNumber(min: number, max: number = Number.MAX_SAFE_INTEGER) {
  const error = `a whole number from ${min} to ${max}`;
  return z
    .string({ error })
    .regex(/^\d{1,16}$/, { error })
    .transform(Number)
    .pipe(z.int({ error }).min(min, { error }).max(max, { error }))
    .meta({ override: { type: 'integer', format: 'int64', minimum: min, maximum: max } });
}

export const id = () => wholeNumber(1);
/** How many rows an answer shows. */
export const rowLimit = () => wholeNumber(1, ADMIN_ROWS_MAX).optional();

const INSTANT = 'a time such as 2026-11-21T10:00:00Z';

/** In milliseconds since 1970. */
export const instant = () =>
  z
    .string({ error: INSTANT })
    .pipe(z.iso.datetime({ offset: true, error: INSTANT }))
    .transform((text) => Date.parse(text))
    .meta({ override: { type: 'string', format: 'date-time' } });

const LINE = `one line of at most ${LABEL_CHARS_MAX} characters`;

/** A name or a label. */
export const oneLine = () =>
  z
    .string({ error: LINE })
    .refine(isLabel, { error: LINE })
    .meta({ description: `One line, up to ${LABEL_CHARS_MAX} characters.` });

/** Dollars from `min` to `max`, exact to the nano-dollar, as text. */
export function usdBetween(min: NanoUsd, max: NanoUsd, words: string) {
  const error = `US dollars as a decimal text, ${words}, with at most nine decimals`;
  return z
    .string({ error })
    .refine((text) => parseUsd(text, min, max) !== null, { error })
    .meta({ description: `US dollars, ${words}.`, examples: ['5'] });
}

/** Of text that `usdBetween` has let through. */
export function toNanoUsd(usd: string): NanoUsd {
  const nanoUsd = parseNanoUsd(usd);
  if (nanoUsd === null) throw new Error('An amount was not checked.');
  return nanoUsd;
}
