import { type Clock, DAY_MS, startOfDayMs } from '../clock.ts';
import type { Grant } from '../ledger/command.ts';
import type { Ledger, UnavailableResult } from '../ledger/ledger.ts';
import type { NanoUsd } from '../money.ts';
import { executeDurably } from './execute-durably.ts';

export interface CreditGrant {
  agentId: number;
  nanoUsd: NanoUsd;
  /** Full days that it lasts at least: granted at any time of UTC day D, it ends at D + days + 1, 00:00. */
  days: number;
  /** The same id again books nothing. */
  grantId: string;
}

export type GrantCreditResult =
  /** `repeated`: the id was booked before, whatever its amount was. */
  { ok: true; repeated: boolean } | { ok: false; reason: 'unknown_agent' | 'over_cap' } | UnavailableResult;

/** Credit for an agent that exists: by hand an unknown id is a typing mistake, not an agent to come. */
export async function grantCredit(
  { ledger, clock }: { ledger: Ledger; clock: Clock },
  { agentId, nanoUsd, days, grantId }: CreditGrant,
): Promise<GrantCreditResult> {
  const agent = await ledger.readAgent(agentId);
  if (agent === 'unavailable') return { ok: false, reason: 'unavailable' };
  if (agent === null) return { ok: false, reason: 'unknown_agent' };
  const expiresAtMs = startOfDayMs(clock.now()) + (days + 1) * DAY_MS;
  const command: Grant = { type: 'grant', agentId, grantId, expiresAtMs, nanoUsd };
  const result = await executeDurably(ledger, command);
  if (result.ok) return { ok: true, repeated: result.repeated };
  switch (result.reason) {
    case 'over_cap':
    case 'unavailable':
      return { ok: false, reason: result.reason };
    case 'not_midnight':
    case 'lot_ended':
    case 'lot_too_far':
      // Around midnight the ledger's day may not be ours yet: a moment later it is.
      return { ok: false, reason: 'unavailable' };
    default:
      return result satisfies never;
  }
}
