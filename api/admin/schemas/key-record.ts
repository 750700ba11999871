import { z } from 'zod';
import { isoTime } from '#core/clock.ts';
import type { KeyView } from '#core/ledger/ledger.ts';
import { formatUsd } from '#core/money.ts';
import { createdByKeyId, newKeyFields, shapeKeyFields } from '../../contract/key-record.ts';
import { usdText } from '../../contract/money.ts';

const { key, ...keyFields } = newKeyFields;

export const OperatorKey = z
  .object({
    ...keyFields,
    last_used_at: z.iso.datetime().nullable(),
    revoked_at: z.iso.datetime().nullable(),
    month_usd: usdText().meta({ description: 'Spent this UTC calendar month.' }),
    created_by_key_id: createdByKeyId,
  })
  .meta({ id: 'OperatorKey' });
export type OperatorKey = z.infer<typeof OperatorKey>;

export const NewOperatorKey = z.object({ key, ...keyFields }).meta({ id: 'NewOperatorKey' });
export type NewOperatorKey = z.infer<typeof NewOperatorKey>;

export function shapeKey(view: KeyView): OperatorKey {
  const { lastUsedAtMs, revokedAtMs } = view;
  return {
    ...shapeKeyFields(view),
    last_used_at: lastUsedAtMs === null ? null : isoTime(lastUsedAtMs),
    revoked_at: revokedAtMs === null ? null : isoTime(revokedAtMs),
    month_usd: formatUsd(view.monthNanoUsd),
    created_by_key_id: view.createdByKeyId,
  };
}
