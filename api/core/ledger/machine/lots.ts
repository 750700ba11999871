import type { LedgerEventOf } from '../../events/ledger-event.ts';
import { minBigint, type NanoUsd } from '../../money.ts';
import { LedgerEventError } from './ledger-errors.ts';
import type { AgentState, Allocation, LedgerState, Lot } from './state.ts';

/** What a new call can hold: free credit of lots that have not ended. */
export function spendableNanoUsd(agent: AgentState, nowMs: number): NanoUsd {
  let sum = 0n;
  for (const lot of agent.lots) if (lot.expiresAtMs > nowMs) sum += lot.freeNanoUsd;
  return sum;
}

/** Of every open hold: running calls, images, videos, calls whose price is pending. */
export function heldNanoUsd(agent: AgentState): NanoUsd {
  let sum = 0n;
  for (const lot of agent.lots) sum += lot.heldNanoUsd;
  return sum;
}

/** Free and held, credit that has ended but not yet been expired included: what the cap bounds. */
export function balanceNanoUsd(agent: AgentState): NanoUsd {
  let sum = 0n;
  for (const lot of agent.lots) sum += lot.freeNanoUsd + lot.heldNanoUsd;
  return sum;
}

/** Whom `expire` would take something from. */
export function agentsWithEnded(state: LedgerState, byMs: number): number[] {
  const ids: number[] = [];
  for (const { agentId, lots } of state.agents.values()) {
    if (lots.some((lot) => lot.expiresAtMs <= byMs && lot.freeNanoUsd > 0n)) ids.push(agentId);
  }
  return ids;
}

/**
 * From which lots a hold takes its money: soonest expiry first, so that credit that ends later is kept. Never from
 * a lot that has ended. The caller has checked that the spendable credit covers it.
 */
export function allocate(lots: readonly Lot[], nanoUsd: NanoUsd, nowMs: number): Allocation[] {
  const allocations: Allocation[] = [];
  let left = nanoUsd;
  for (const lot of lots) {
    if (left === 0n) break;
    if (lot.expiresAtMs <= nowMs || lot.freeNanoUsd === 0n) continue;
    const taken = minBigint(left, lot.freeNanoUsd);
    allocations.push({ expiresAtMs: lot.expiresAtMs, nanoUsd: taken });
    left -= taken;
  }
  return allocations;
}

export function findLot(agent: AgentState, expiresAtMs: number): Lot | undefined {
  for (const lot of agent.lots) if (lot.expiresAtMs === expiresAtMs) return lot;
  return undefined;
}

/** Books free credit into the lot of that day, which is made in its place when there is none. */
export function addFree(agent: AgentState, expiresAtMs: number, nanoUsd: NanoUsd): void {
  if (nanoUsd === 0n) return;
  const later = agent.lots.findIndex((lot) => lot.expiresAtMs >= expiresAtMs);
  const index = later === -1 ? agent.lots.length : later;
  const lot = agent.lots[index];
  if (lot?.expiresAtMs === expiresAtMs) lot.freeNanoUsd += nanoUsd;
  else agent.lots.splice(index, 0, { expiresAtMs, freeNanoUsd: nanoUsd, heldNanoUsd: 0n });
}

/** Takes the event's amounts from the free credit of their lots, and returns the sum. If a lot has less, it throws and changes nothing. */
export function takeFree(agent: AgentState, event: LedgerEventOf<'expired' | 'moved_out'>): NanoUsd {
  const debits = event.lots.map(({ expiresAtMs, nanoUsd }) => {
    const lot = findLot(agent, expiresAtMs);
    const amount = BigInt(nanoUsd);
    if (lot === undefined || lot.freeNanoUsd < amount) {
      throw new LedgerEventError(event, 'the lot does not have that much');
    }
    return { lot, amount };
  });
  let sum = 0n;
  for (const { lot, amount } of debits) {
    lot.freeNanoUsd -= amount;
    sum += amount;
  }
  dropEmptyLots(agent);
  return sum;
}

export function dropEmptyLots(agent: AgentState): void {
  for (let i = agent.lots.length - 1; i >= 0; i--) {
    const lot = agent.lots[i];
    if (lot?.freeNanoUsd === 0n && lot.heldNanoUsd === 0n) agent.lots.splice(i, 1);
  }
}
