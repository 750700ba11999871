import { DAY_MS, startOfDayMs } from '../../clock.ts';
import type { LedgerEventOf } from '../../events/ledger-event.ts';
import { BALANCE_CAP_NANO_USD, GRANT_ID_KEPT_MS, LOT_DAYS_MAX } from '../../limits.ts';
import type { Expire, ExpireResult, Grant, GrantResult } from '../command.ts';
import { changed, type Decision, headOf, requireAmount, unchanged } from './decision.ts';
import { addFree, balanceNanoUsd, takeFree } from './lots.ts';
import type { AgentState, LedgerState } from './state.ts';

/** Credit for an agent that nobody has announced yet makes it, inactive. */
export function decideGrant(state: LedgerState, command: Grant, nowMs: number): Decision<GrantResult> {
  requireAmount(command.nanoUsd);
  const agent = state.agents.get(command.agentId);
  const knownUntilMs = agent?.grants.get(command.grantId);
  if (knownUntilMs !== undefined && knownUntilMs > nowMs) return unchanged({ ok: true, repeated: true });
  const refusal = refuseLot(command.expiresAtMs, nowMs) ?? refuseOverCap(agent, command);
  if (refusal !== null) return unchanged(refusal);
  const event: LedgerEventOf<'granted'> = {
    ...headOf('granted', command.agentId, agent, nowMs),
    grantId: command.grantId,
    expiresAtMs: command.expiresAtMs,
    nanoUsd: String(command.nanoUsd),
  };
  return changed({ ok: true, repeated: false }, event);
}

/** One lot per day, and at most eight alive, is what keeps an agent small. */
function refuseLot(expiresAtMs: number, nowMs: number): GrantResult | null {
  if (expiresAtMs % DAY_MS !== 0) return { ok: false, reason: 'not_midnight' };
  if (expiresAtMs <= nowMs) return { ok: false, reason: 'lot_ended' };
  if (expiresAtMs > startOfDayMs(nowMs) + LOT_DAYS_MAX * DAY_MS) return { ok: false, reason: 'lot_too_far' };
  return null;
}

function refuseOverCap(agent: AgentState | undefined, command: Grant): GrantResult | null {
  const balance = agent === undefined ? 0n : balanceNanoUsd(agent);
  return balance + command.nanoUsd > BALANCE_CAP_NANO_USD ? { ok: false, reason: 'over_cap' } : null;
}

/** Only free credit expires: what a running call holds stays held until that call has ended. */
export function decideExpire(state: LedgerState, command: Expire, nowMs: number): Decision<ExpireResult> {
  const agent = state.agents.get(command.agentId);
  const endedByMs = Math.min(nowMs, command.endedByMs);
  const ended = agent?.lots.filter((lot) => lot.expiresAtMs <= endedByMs && lot.freeNanoUsd > 0n) ?? [];
  if (agent === undefined || ended.length === 0) return unchanged({ ok: true, expiredNanoUsd: 0n });
  const event: LedgerEventOf<'expired'> = {
    ...headOf('expired', command.agentId, agent, nowMs),
    lots: ended.map((lot) => ({ expiresAtMs: lot.expiresAtMs, nanoUsd: String(lot.freeNanoUsd) })),
  };
  const expiredNanoUsd = ended.reduce((sum, lot) => sum + lot.freeNanoUsd, 0n);
  return changed({ ok: true, expiredNanoUsd }, event);
}

export function applyGranted(agent: AgentState, event: LedgerEventOf<'granted'>): void {
  const nanoUsd = BigInt(event.nanoUsd);
  addFree(agent, event.expiresAtMs, nanoUsd);
  agent.grantedNanoUsd += nanoUsd;
  agent.grants.set(event.grantId, event.atMs + GRANT_ID_KEPT_MS);
}

export function applyExpired(agent: AgentState, event: LedgerEventOf<'expired'>): void {
  agent.expiredNanoUsd += takeFree(agent, event);
}
