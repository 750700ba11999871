import { DAY_MS } from '../clock.ts';
import type { LedgerEventOf } from '../events/ledger-event.ts';
import { GRANT_ID_KEPT_MS, LOG_KEPT_MS, LOT_DAYS_MAX } from '../limits.ts';
import { inTrade, outTrade, saleTerms } from './decide-move.ts';
import { LedgerEventError } from './ledger-errors.ts';
import { addFree, dropEmptyLots, findLot } from './lots.ts';
import type { AgentState } from './state.ts';

export function applyGranted(agent: AgentState, event: LedgerEventOf<'granted'>): void {
  const nanoUsd = BigInt(event.nanoUsd);
  addFree(agent, event.expiresAtMs, nanoUsd);
  agent.grantedNanoUsd += nanoUsd;
  agent.grants.set(event.grantId, event.atMs + GRANT_ID_KEPT_MS);
}

export function applyExpired(agent: AgentState, event: LedgerEventOf<'expired'>): void {
  agent.expiredNanoUsd += takeFree(agent, event);
}

export function applyMovedOut(agent: AgentState, event: LedgerEventOf<'moved_out'>): void {
  const [lot, ...others] = event.lots;
  if (lot === undefined || others.length > 0) throw new LedgerEventError(event, 'a sale is of one lot');
  agent.movedOutNanoUsd += takeFree(agent, event);
  agent.trades.set(outTrade(event.tradeId), {
    keptUntilMs: Math.max(lot.expiresAtMs, event.atMs) + LOG_KEPT_MS,
    result: 'moved_out',
    expiredNanoUsd: 0n,
    detail: saleTerms(event.buyerAgentId, lot.expiresAtMs, BigInt(lot.nanoUsd)),
  });
}

/** Kept as if the lot that was asked for ended as late as any lot may. */
export function applyMoveRefused(agent: AgentState, event: LedgerEventOf<'move_refused'>): void {
  agent.trades.set(outTrade(event.tradeId), {
    keptUntilMs: event.atMs + LOT_DAYS_MAX * DAY_MS + LOG_KEPT_MS,
    result: 'move_refused',
    expiredNanoUsd: 0n,
    detail: event.reason,
  });
}

export function applyMovedIn(agent: AgentState, event: LedgerEventOf<'moved_in'>): void {
  const nanoUsd = BigInt(event.nanoUsd);
  const expiredNanoUsd = BigInt(event.expiredNanoUsd);
  if (expiredNanoUsd > nanoUsd) throw new LedgerEventError(event, 'expires more than it moves');
  addFree(agent, event.expiresAtMs, nanoUsd - expiredNanoUsd);
  agent.movedInNanoUsd += nanoUsd;
  agent.expiredNanoUsd += expiredNanoUsd;
  agent.trades.set(inTrade(event.tradeId), {
    keptUntilMs: Math.max(event.atMs, event.expiresAtMs) + LOG_KEPT_MS,
    result: 'moved_in',
    expiredNanoUsd,
    detail: '',
  });
}

function takeFree(agent: AgentState, event: LedgerEventOf<'expired' | 'moved_out'>): bigint {
  const taken = event.lots.map(({ expiresAtMs, nanoUsd }) => {
    const lot = findLot(agent, expiresAtMs);
    const amount = BigInt(nanoUsd);
    if (lot === undefined || lot.freeNanoUsd < amount) {
      throw new LedgerEventError(event, 'the lot does not have that much');
    }
    return { lot, amount };
  });
  let sum = 0n;
  for (const { lot, amount } of taken) {
    lot.freeNanoUsd -= amount;
    sum += amount;
  }
  dropEmptyLots(agent);
  return sum;
}
