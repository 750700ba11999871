import { executeDurably } from '#core/accounts/execute-durably.ts';
import { type Clock, DAY_MS, startOfDayMs } from '#core/clock.ts';
import { creditGrant } from '#core/events/credit-grant.ts';
import { type HandleRecord, parseFeedRecord } from '#core/events/feed-record.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import { CLOCK_APART_MAX_MS, LOT_DAYS_MAX } from '#core/limits.ts';

/** Books a record of `credit.grants.v1`. Once: the ledger knows its id for as long as its lot may live. */
export const createBookGrant =
  ({ ledger, clock }: { ledger: Pick<Ledger, 'execute'>; clock: Clock }): HandleRecord =>
  async (bytes) => {
    const parsed = parseFeedRecord(creditGrant, bytes);
    if (!parsed.ok) return { outcome: 'dead_letter', reason: parsed.reason };
    const { grantId, agentId, usd: nanoUsd, grantedAt } = parsed.record;
    const expiresAtMs = startOfDayMs(grantedAt) + LOT_DAYS_MAX * DAY_MS;
    const result = await executeDurably(ledger, { type: 'grant', agentId, grantId, expiresAtMs, nanoUsd });
    if (result.ok) return { outcome: 'done' };
    if (result.reason === 'unavailable' || passes(result.reason, grantedAt, expiresAtMs, clock.now())) {
      return { outcome: 'try_again' };
    }
    return { outcome: 'dead_letter', reason: `the ledger refuses the grant: ${result.reason}` };
  };

/** A refusal that our own clock contradicts: the writer's is a little ahead around midnight, or the ledger's is wrong. */
function passes(reason: string, grantedAtMs: number, expiresAtMs: number, nowMs: number): boolean {
  if (reason === 'lot_too_far') return grantedAtMs <= nowMs + CLOCK_APART_MAX_MS;
  return reason === 'lot_ended' && expiresAtMs > nowMs;
}
