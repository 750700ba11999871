import { z } from 'zod';
import { isoTime } from '#core/clock.ts';
import type { KeyView } from '#core/ledger/ledger.ts';
import { KEY_LIMIT_MAX_NANO_USD, KEY_LIMIT_MIN_NANO_USD } from '#core/limits.ts';
import { formatUsd, maxBigint } from '#core/money.ts';
import { usdText } from './money.ts';

/** The dollars that a limit may have, in words. */
export const spendingLimitRange = [KEY_LIMIT_MIN_NANO_USD, KEY_LIMIT_MAX_NANO_USD]
  .map(formatUsd)
  .join(' to ');

export const SpendingLimit = z
  .object({
    limit_usd: usdText(),
    reset: z
      .enum(['daily', 'weekly', 'monthly'])
      .meta({ description: 'Periods start at 00:00 UTC, weeks on Monday.' }),
    spent_usd: usdText(),
    reserved_usd: usdText().meta({ description: "Held by the key's running calls." }),
    remaining_usd: usdText().meta({ description: 'Limit less spent less held.' }),
    resets_at: z.iso.datetime(),
  })
  .meta({ id: 'SpendingLimit' });
export type SpendingLimit = z.infer<typeof SpendingLimit>;

export function shapeSpendingLimit(limit: NonNullable<KeyView['limit']>): SpendingLimit {
  const { limitNanoUsd, spentNanoUsd, heldNanoUsd } = limit;
  return {
    limit_usd: formatUsd(limitNanoUsd),
    reset: limit.reset,
    spent_usd: formatUsd(spentNanoUsd),
    reserved_usd: formatUsd(heldNanoUsd),
    // A limit set mid-period counts what was spent before, which may be more than the limit.
    remaining_usd: formatUsd(maxBigint(0n, limitNanoUsd - spentNanoUsd - heldNanoUsd)),
    resets_at: isoTime(limit.resetsAtMs),
  };
}

/** Of every record of a key; with the secret, which is shown once, of a new one's. */
export const newKeyFields = {
  key: z.string().meta({ description: 'The secret: shown this once, kept nowhere.' }),
  id: z.int(),
  label: z.string(),
  prefix: z.string().meta({ description: 'Leading characters of the key, for recognition.' }),
  created_at: z.iso.datetime(),
  spending_limit: SpendingLimit.nullable(),
};
export const createdByKeyId = z
  .int()
  .nullable()
  .meta({ description: 'The key that made it over MCP; null for one that a person made.' });

const { key: _, spending_limit, ...keyFields } = newKeyFields;

/** Spec: Key record. */
export const KeyRecord = z
  .object({
    ...keyFields,
    last_used_at: z.iso.datetime().nullable(),
    month_usd: usdText().meta({ description: 'Spent this UTC calendar month.' }),
    spending_limit,
    this_key: z.boolean().meta({ description: 'The key of this connection.' }),
    created_by_key_id: createdByKeyId,
  })
  .meta({ id: 'KeyRecord' });
export type KeyRecord = z.infer<typeof KeyRecord>;

/** What `create_key` answers: the one time that the secret is shown. */
export const NewKey = z.object(newKeyFields).meta({ id: 'NewKey' });
export type NewKey = z.infer<typeof NewKey>;

export const KeyList = z
  .object({
    keys: z.array(KeyRecord).meta({ description: 'Active ones, oldest first.' }),
    max_active: z.int().meta({ description: 'Active keys that an agent may have.' }),
  })
  .meta({ id: 'KeyList' });
export type KeyList = z.infer<typeof KeyList>;

export const RevokedKey = z
  .object({
    key_id: z.int(),
    revoked: z.boolean(),
    this_key: z.boolean().meta({ description: 'True: this connection stops working.' }),
  })
  .meta({ id: 'RevokedKey' });
export type RevokedKey = z.infer<typeof RevokedKey>;

/** @param callerKeyId Of the key that asks. */
export function shapeKey(view: KeyView, callerKeyId: number): KeyRecord {
  const { lastUsedAtMs } = view;
  return {
    ...shapeKeyFields(view),
    last_used_at: lastUsedAtMs === null ? null : isoTime(lastUsedAtMs),
    month_usd: formatUsd(view.monthNanoUsd),
    this_key: view.keyId === callerKeyId,
    created_by_key_id: view.createdByKeyId,
  };
}

export const shapeNewKey = (view: KeyView, key: string): NewKey => ({ key, ...shapeKeyFields(view) });

export function shapeKeyFields({ keyId, label, prefix, createdAtMs, limit }: KeyView) {
  return {
    id: keyId,
    label,
    prefix,
    created_at: isoTime(createdAtMs),
    spending_limit: limit === null ? null : shapeSpendingLimit(limit),
  };
}

export const isActiveKey = ({ revokedAtMs }: KeyView): boolean => revokedAtMs === null;
/** A key's id tells those of one millisecond apart. */
export const oldestFirst = (a: KeyView, b: KeyView): number =>
  a.createdAtMs - b.createdAtMs || a.keyId - b.keyId;
