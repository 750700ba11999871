import type { PutKey } from '../ledger/command.ts';
import type { KeyView } from '../ledger/ledger.ts';
import { periodOf } from '../ledger/machine/periods.ts';

/** A key that was made a moment ago, where the ledger does not answer any more: its secret is told all the same. */
export function unreadKey({
  nowMs,
  limit,
  actingKeyId,
  ...same
}: Pick<PutKey, 'keyId' | 'label' | 'prefix' | 'limit' | 'actingKeyId'> & { nowMs: number }): KeyView {
  return {
    ...same,
    // No command may rest on a key that was not read.
    version: -1,
    createdAtMs: nowMs,
    createdByKeyId: actingKeyId,
    revokedAtMs: null,
    lastUsedAtMs: null,
    limit:
      limit === null
        ? null
        : {
            ...limit,
            spentNanoUsd: 0n,
            heldNanoUsd: 0n,
            resetsAtMs: periodOf(limit.reset, nowMs).resetsAtMs,
          },
    monthNanoUsd: 0n,
  };
}
