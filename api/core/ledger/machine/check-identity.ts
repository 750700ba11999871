import { BALANCE_CAP_NANO_USD } from '../../limits.ts';
import type { NanoUsd } from '../../money.ts';
import { balanceNanoUsd } from './lots.ts';
import type { AgentState } from './state.ts';

/**
 * What is wrong with an agent's money, in words, or `null`. For the audit, for restored snapshots and for tests:
 * each line is an invariant of the README.
 */
export function checkIdentity(agent: AgentState): string | null {
  return checkLots(agent) ?? checkTotals(agent) ?? checkHolds(agent) ?? checkKeys(agent);
}

function checkLots(agent: AgentState): string | null {
  let lastExpiry = 0;
  for (const { expiresAtMs, freeNanoUsd, heldNanoUsd } of agent.lots) {
    if (expiresAtMs <= lastExpiry) return `lot ${expiresAtMs} is out of order`;
    if (freeNanoUsd < 0n || heldNanoUsd < 0n) return `lot ${expiresAtMs} is below zero`;
    if (freeNanoUsd === 0n && heldNanoUsd === 0n) return `lot ${expiresAtMs} is empty`;
    lastExpiry = expiresAtMs;
  }
  return null;
}

function checkTotals(agent: AgentState): string | null {
  const { grantedNanoUsd, movedInNanoUsd, chargedNanoUsd, expiredNanoUsd, movedOutNanoUsd } = agent;
  const balance = balanceNanoUsd(agent);
  const came = grantedNanoUsd + movedInNanoUsd;
  const is = balance + chargedNanoUsd + expiredNanoUsd + movedOutNanoUsd;
  if (came !== is) return `granted and moved in ${came}, free, held, charged, expired and moved out ${is}`;
  if (balance > BALANCE_CAP_NANO_USD) return `the balance ${balance} is above the cap`;
  if (agent.chargedToday.nanoUsd > chargedNanoUsd) return 'more charged today than ever';
  return null;
}

function checkHolds(agent: AgentState): string | null {
  const heldByLot = new Map<number, NanoUsd>();
  for (const { callId, nanoUsd, allocations } of agent.holds.values()) {
    let allocated = 0n;
    let lastExpiry = 0;
    for (const taken of allocations) {
      if (taken.expiresAtMs <= lastExpiry) return `call ${callId}: allocations out of order`;
      lastExpiry = taken.expiresAtMs;
      allocated += taken.nanoUsd;
      heldByLot.set(taken.expiresAtMs, (heldByLot.get(taken.expiresAtMs) ?? 0n) + taken.nanoUsd);
    }
    if (allocated !== nanoUsd) return `call ${callId}: holds ${nanoUsd}, allocated ${allocated}`;
    if (agent.done.has(callId)) return `call ${callId}: is open and done`;
  }
  for (const { expiresAtMs, heldNanoUsd } of agent.lots) {
    const held = heldByLot.get(expiresAtMs) ?? 0n;
    if (held !== heldNanoUsd) return `lot ${expiresAtMs}: holds ${heldNanoUsd}, its calls ${held}`;
    heldByLot.delete(expiresAtMs);
  }
  for (const [expiresAtMs, held] of heldByLot) if (held > 0n) return `no lot ${expiresAtMs} for what is held`;
  for (const callId of agent.leases.keys()) {
    const hold = agent.holds.get(callId);
    if (hold === undefined || hold.pending !== null) return `call ${callId}: has a slot but does not run`;
    if (hold.kind === 'video') return `call ${callId}: a video has a slot`;
  }
  return null;
}

function checkKeys(agent: AgentState): string | null {
  const heldByKey = new Map<number, NanoUsd>();
  for (const { keyId, nanoUsd } of agent.holds.values()) {
    heldByKey.set(keyId, (heldByKey.get(keyId) ?? 0n) + nanoUsd);
  }
  for (const key of agent.keys.values()) {
    const held = heldByKey.get(key.keyId) ?? 0n;
    if (held !== key.heldNanoUsd) return `key ${key.keyId}: holds ${key.heldNanoUsd}, its calls ${held}`;
    heldByKey.delete(key.keyId);
  }
  for (const keyId of heldByKey.keys()) return `no key ${keyId} for what is held`;
  return null;
}
