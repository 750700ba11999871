import { executeDurably } from '#core/accounts/execute-durably.ts';
import { DAY_MS, startOfDayMs } from '#core/clock.ts';
import { creditGrant } from '#core/events/credit-grant.ts';
import type { HandleRecord } from '#core/events/feed-record.ts';
import { parseFeedRecord } from '#core/events/feed-record.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import { LOT_DAYS_MAX } from '#core/limits.ts';

/** Books a record of `credit.grants.v1`. Once: the ledger knows its id for as long as its lot may live. */
export const createBookGrant =
  (ledger: Pick<Ledger, 'execute'>): HandleRecord =>
  async (bytes) => {
    const parsed = parseFeedRecord(creditGrant, bytes);
    if (!parsed.ok) return { outcome: 'dead_letter', reason: parsed.reason };
    const { grantId, agentId, usd: nanoUsd, grantedAt } = parsed.record;
    const expiresAtMs = startOfDayMs(grantedAt) + LOT_DAYS_MAX * DAY_MS;
    const result = await executeDurably(ledger, { type: 'grant', agentId, grantId, expiresAtMs, nanoUsd });
    if (result.ok) return { outcome: 'done' };
    return result.reason === 'unavailable'
      ? { outcome: 'try_again' }
      : { outcome: 'dead_letter', reason: `the ledger refuses the grant: ${result.reason}` };
  };
