import { z } from 'zod';
import { isoTime } from '#core/clock.ts';
import type { KeyView } from '#core/ledger/ledger.ts';
import { formatUsd } from '#core/money.ts';
import { usdText } from '../../contract/money.ts';
import { SpendingLimit, shapeSpendingLimit } from '../../contract/spending-limit.ts';

const keyFields = {
  id: z.int(),
  label: z.string(),
  prefix: z.string().meta({ description: 'Leading characters of the key, for recognition.' }),
  created_at: z.iso.datetime(),
  spending_limit: SpendingLimit.nullable(),
};

export const OperatorKey = z
  .object({
    ...keyFields,
    last_used_at: z.iso.datetime().nullable(),
    revoked_at: z.iso.datetime().nullable(),
    month_usd: usdText().meta({ description: 'Spent this UTC calendar month.' }),
    created_by_key_id: z
      .int()
      .nullable()
      .meta({ description: 'The key that made it over MCP; null for one that the operator made.' }),
  })
  .meta({ id: 'OperatorKey' });
export type OperatorKey = z.infer<typeof OperatorKey>;

export const NewOperatorKey = z
  .object({
    key: z.string().meta({ description: 'The secret: shown this once, kept nowhere.' }),
    ...keyFields,
  })
  .meta({ id: 'NewOperatorKey' });
export type NewOperatorKey = z.infer<typeof NewOperatorKey>;

export function shapeKey(view: KeyView): OperatorKey {
  const { lastUsedAtMs, revokedAtMs } = view;
  return {
    ...shapeFields(view),
    last_used_at: lastUsedAtMs === null ? null : isoTime(lastUsedAtMs),
    revoked_at: revokedAtMs === null ? null : isoTime(revokedAtMs),
    month_usd: formatUsd(view.monthNanoUsd),
    created_by_key_id: view.createdByKeyId,
  };
}

export const shapeNewKey = (view: KeyView, key: string): NewOperatorKey => ({ key, ...shapeFields(view) });

function shapeFields({ keyId, label, prefix, createdAtMs, limit }: KeyView) {
  return {
    id: keyId,
    label,
    prefix,
    created_at: isoTime(createdAtMs),
    spending_limit: limit === null ? null : shapeSpendingLimit(limit),
  };
}
