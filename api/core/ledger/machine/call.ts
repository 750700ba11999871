import { startOfDayMs } from '../../clock.ts';
import type { LedgerEventOf } from '../../events/ledger-event.ts';
import { idTimeMs } from '../../ids.ts';
import { HOLD_LEASE_MS, ORPHAN_MARGIN_MS } from '../../limits.ts';
import { minBigint } from '../../money.ts';
import type { Finish, FinishResult, Renew, RenewResult, Settle, SettleResult } from '../command.ts';
import { clampCallEnd, soundPending } from './clamp-call-end.ts';
import { changed, type Decision, type GivenUpCall, headOf, requireAmount, unchanged } from './decision.ts';
import { LedgerEventError } from './ledger-errors.ts';
import { dropEmptyLots, findLot } from './lots.ts';
import { addToPeriod, bookCharge } from './periods.ts';
import { findDone } from './recently-settled.ts';
import type { AgentState, Hold, KeyState, LedgerState, Lot } from './state.ts';
import { addStored } from './stored-images.ts';
import { addVideo, endedVideo } from './video.ts';

/** The largest amount that an event can carry: a provider's absurd cost must not stop the journal. */
const OVERRUN_MAX = 99_999_999_999_999_999_999n;

/** A call that has finished has left its slot for good: only its price is open. */
export function decideRenew(state: LedgerState, command: Renew, nowMs: number): Decision<RenewResult> {
  const agent = state.agents.get(command.agentId);
  const hold = agent?.holds.get(command.callId);
  if (agent === undefined || hold === undefined || hold.pending !== null) {
    return unchanged({ ok: false, reason: 'no_hold' });
  }
  const { agentId, callId, generationId, holdsSlot } = command;
  const endsAtMs = holdsSlot ? nowMs + HOLD_LEASE_MS : nowMs;
  const lease = hold.kind === 'video' ? null : { agentId, callId, endsAtMs };
  if (generationId === null || generationId === hold.generationId) {
    return { ...unchanged({ ok: true }), lease };
  }
  const event: LedgerEventOf<'renewed'> = {
    v: 1,
    type: 'renewed',
    agentId,
    version: agent.version + 1,
    atMs: nowMs,
    callId,
    generationId,
  };
  return { ...changed({ ok: true }, event), lease };
}

export function decideFinish(state: LedgerState, command: Finish, nowMs: number): Decision<FinishResult> {
  const agent = state.agents.get(command.agentId);
  if (agent === undefined) return unchanged({ ok: false, reason: 'no_hold' });
  const hold = agent.holds.get(command.callId);
  if (hold === undefined) {
    const done = findDone(agent, command.callId, nowMs);
    if (done === null) return unchanged({ ok: false, reason: 'no_hold' });
    return unchanged({ ok: false, reason: 'done', chargedNanoUsd: done.chargedNanoUsd });
  }
  if (hold.pending !== null) return unchanged({ ok: true, repeated: true });
  const event: LedgerEventOf<'finished'> = {
    ...headOf('finished', command.agentId, agent, nowMs),
    callId: command.callId,
    end: clampCallEnd(command.end),
    pending: soundPending(command.pending),
  };
  return changed({ ok: true, repeated: false }, event);
}

/** Charges the cost, at most what was held: prepaid credit never owes. */
export function decideSettle(state: LedgerState, command: Settle, nowMs: number): Decision<SettleResult> {
  const agent = state.agents.get(command.agentId);
  if (agent === undefined) return unchanged({ ok: false, reason: 'no_hold' });
  const hold = agent.holds.get(command.callId);
  if (hold === undefined) {
    const done = findDone(agent, command.callId, nowMs);
    if (done === null)
      return { ...unchanged({ ok: false, reason: 'no_hold' }), givenUp: releaseOf(command, nowMs) };
    return unchanged({ ok: true, repeated: true, chargedNanoUsd: done.chargedNanoUsd });
  }
  if (command.cause === 'orphan' && !isOrphan(hold, nowMs)) {
    return unchanged({ ok: false, reason: 'not_orphaned' });
  }
  return chargeHold(agent, hold, command, nowMs);
}

/** A call that pays nothing was given up; one that pays was confirmed, so its start cannot be on its way any more. */
function releaseOf({ agentId, callId, costNanoUsd, cause }: Settle, nowMs: number): GivenUpCall | null {
  return cause === 'end' && costNanoUsd === 0n ? { agentId, callId, atMs: nowMs } : null;
}

/**
 * A lapsed lease says nothing; a pending price has the settlement loop, however long that takes. The start is dated by its
 * process, too: a ledger whose clock was five minutes behind at that moment would else end calls that still run.
 */
function isOrphan({ callId, startedAtMs, timeLimitMs, pending }: Hold, nowMs: number): boolean {
  const startedByMs = Math.max(startedAtMs, idTimeMs(callId));
  return pending === null && nowMs >= startedByMs + timeLimitMs + ORPHAN_MARGIN_MS;
}

function chargeHold(agent: AgentState, hold: Hold, command: Settle, nowMs: number): Decision<SettleResult> {
  // An orphan is the gateway's own failure, which is free whatever the command says.
  const cost = command.cause === 'orphan' ? 0n : command.costNanoUsd;
  requireAmount(cost);
  const charged = minBigint(cost, hold.nanoUsd);
  const overrun = cost - charged;
  const event: LedgerEventOf<'settled'> = {
    v: 1,
    type: 'settled',
    agentId: agent.agentId,
    version: agent.version + 1,
    atMs: nowMs,
    callId: hold.callId,
    chargedNanoUsd: String(charged),
    overrunNanoUsd: String(minBigint(overrun, OVERRUN_MAX)),
    end: clampCallEnd(command.end),
    ...results(hold, command),
  };
  return changed({ ok: true, repeated: false, chargedNanoUsd: charged, overrunNanoUsd: overrun }, event);
}

/** What was made, where something can have been made: an orphan's process did not end it. */
function results(
  hold: Hold,
  { cause, video, stored }: Settle,
): Pick<SettledEvent, 'video' | 'stored'> | null {
  if (cause === 'orphan') return null;
  if (hold.videoId !== null && video !== undefined) return { video };
  return hold.kind === 'image' && stored !== undefined ? { stored } : null;
}

type SettledEvent = LedgerEventOf<'settled'>;

export function applyReserved(agent: AgentState, event: LedgerEventOf<'reserved'>): void {
  const { callId, nonce, keyId, kind, timeLimitMs, call, price } = event;
  const key = agent.keys.get(keyId);
  if (key === undefined) throw new LedgerEventError(event, 'no such key');
  if (agent.holds.has(callId)) throw new LedgerEventError(event, 'the call has a hold already');
  const allocations = event.allocations.map((taken) => ({
    expiresAtMs: taken.expiresAtMs,
    nanoUsd: BigInt(taken.nanoUsd),
  }));
  const nanoUsd = allocations.reduce((sum, taken) => sum + taken.nanoUsd, 0n);
  if (nanoUsd !== BigInt(event.nanoUsd)) throw new LedgerEventError(event, 'allocations do not sum up');
  const lots = allocations.map((taken) => {
    const lot = findLot(agent, taken.expiresAtMs);
    if (lot === undefined || lot.freeNanoUsd < taken.nanoUsd) {
      throw new LedgerEventError(event, 'the lot does not have that much');
    }
    return { lot, taken: taken.nanoUsd };
  });
  for (const { lot, taken } of lots) {
    lot.freeNanoUsd -= taken;
    lot.heldNanoUsd += taken;
  }
  key.heldNanoUsd += nanoUsd;
  key.lastUsedAtMs = event.atMs;
  agent.startsTatUs = event.startsTatUs;
  takeSlot(agent, event);
  agent.holds.set(callId, {
    callId,
    nonce,
    keyId,
    kind,
    nanoUsd,
    allocations,
    startedAtMs: event.atMs,
    timeLimitMs,
    call,
    price,
    generationId: null,
    pending: null,
    videoId: event.video?.videoId ?? null,
  });
  addVideo(agent, event);
}

/** Also forgets slots that have lapsed, which is what bounds their number. */
function takeSlot(agent: AgentState, event: LedgerEventOf<'reserved'>): void {
  const { leases } = agent;
  if (leases.values().some((endsAtMs) => endsAtMs <= event.atMs)) {
    for (const [callId, endsAtMs] of leases) if (endsAtMs <= event.atMs) leases.delete(callId);
  }
  if (event.leaseEndsAtMs !== null) leases.set(event.callId, event.leaseEndsAtMs);
}

export function applyRenewed(agent: AgentState, event: LedgerEventOf<'renewed'>): void {
  openHold(agent, event).generationId = event.generationId;
}

/** The slot is free at once; the money stays held until the price is known. */
export function applyFinished(agent: AgentState, event: LedgerEventOf<'finished'>): void {
  openHold(agent, event).pending = { end: event.end, pending: event.pending };
  agent.leases.delete(event.callId);
}

export function applySettled(agent: AgentState, event: LedgerEventOf<'settled'>): void {
  const hold = openHold(agent, event);
  const charged = BigInt(event.chargedNanoUsd);
  if (charged > hold.nanoUsd) throw new LedgerEventError(event, 'charges more than the hold');
  const key = keyOf(agent, hold, event);
  const lots = hold.allocations.map(({ expiresAtMs }) => heldLot(agent, expiresAtMs, event));
  const video = endedVideo(agent, event);
  returnRest(hold, lots, charged);
  dropEmptyLots(agent);
  agent.chargedNanoUsd += charged;
  addToPeriod(agent.chargedToday, { startsAtMs: startOfDayMs(event.atMs), atMs: event.atMs }, charged);
  bookCharge(key, charged, event.atMs);
  key.heldNanoUsd -= hold.nanoUsd;
  agent.holds.delete(hold.callId);
  agent.leases.delete(hold.callId);
  agent.done.set(hold.callId, { nonce: hold.nonce, chargedNanoUsd: charged, settledAtMs: event.atMs });
  if (video !== null) {
    agent.videos.set(video);
    agent.videos.forgetMany();
  }
  if (event.stored !== undefined) addStored(agent, event.stored.bytes, event.stored.untilMs);
}

/** The charge takes what ends soonest; the rest goes back to its lot, even to one that has ended. */
function returnRest(hold: Hold, lots: readonly Lot[], charged: bigint): void {
  let left = charged;
  for (let i = 0; i < lots.length; i++) {
    const lot = lots[i];
    const nanoUsd = hold.allocations[i]?.nanoUsd;
    if (lot === undefined || nanoUsd === undefined) continue;
    const taken = minBigint(left, nanoUsd);
    left -= taken;
    lot.heldNanoUsd -= nanoUsd;
    lot.freeNanoUsd += nanoUsd - taken;
  }
}

type CallEvent = LedgerEventOf<'renewed' | 'finished' | 'settled'>;

function openHold(agent: AgentState, event: CallEvent): Hold {
  const hold = agent.holds.get(event.callId);
  if (hold === undefined) throw new LedgerEventError(event, 'the call has no hold');
  return hold;
}

function keyOf(agent: AgentState, hold: Hold, event: CallEvent): KeyState {
  const key = agent.keys.get(hold.keyId);
  if (key === undefined) throw new LedgerEventError(event, 'no such key');
  return key;
}

function heldLot(agent: AgentState, expiresAtMs: number, event: CallEvent): Lot {
  const lot = findLot(agent, expiresAtMs);
  if (lot === undefined) throw new LedgerEventError(event, 'the held lot is gone');
  return lot;
}
