import { z } from 'zod';
import { isLabel } from '#core/label.ts';
import type { PutKey } from '#core/ledger/command.ts';
import { KEY_LIMIT_MAX_NANO_USD, KEY_LIMIT_MIN_NANO_USD, LABEL_CHARS_MAX } from '#core/limits.ts';
import { spendingLimitRange } from '../contract/key-record.ts';
import { parseUsd } from '../contract/money.ts';
import { sentences } from './sentences.ts';

/*
 * What `create_key` and `update_key` take. Looser than what is allowed: of a wrong label or amount the spec has sentences of
 * their own, and what a schema refuses is always an "Input validation error".
 */

export const keyIdInput = () => z.int().min(1).meta({ description: 'As `list_keys` shows it.' });

export const labelInput = () =>
  z.string().meta({
    description: `One line, up to ${LABEL_CHARS_MAX} characters.`,
    minLength: 1,
    maxLength: LABEL_CHARS_MAX,
  });

export const limitInput = () =>
  z.object({
    usd: z.union([z.string(), z.number()]).meta({
      description: `US dollars per period, from ${spendingLimitRange}.`,
      examples: ['12.5'],
    }),
    reset: z
      .enum(['daily', 'weekly', 'monthly'])
      .meta({ description: 'When a period ends: at 00:00 UTC; weeks on Monday.' }),
  });

type Read<Value> = { ok: true; value: Value } | { ok: false; sentence: string };

export const readLabel = (label: string): Read<string> =>
  isLabel(label) ? { ok: true, value: label } : { ok: false, sentence: sentences.badLabel };

export function readLimit(
  given: z.output<ReturnType<typeof limitInput>>,
): Read<NonNullable<PutKey['limit']>> {
  const limitNanoUsd = parseUsd(String(given.usd), KEY_LIMIT_MIN_NANO_USD, KEY_LIMIT_MAX_NANO_USD);
  if (limitNanoUsd === null) return { ok: false, sentence: sentences.badAmount };
  return { ok: true, value: { limitNanoUsd, reset: given.reset } };
}
