import { startOfDayMs } from '../clock.ts';
import type { LedgerEventOf } from '../events/ledger-event.ts';
import { minBigint } from '../money.ts';
import { addVideo, endedVideo } from './apply-video.ts';
import { LedgerEventError } from './ledger-errors.ts';
import { dropEmptyLots, findLot } from './lots.ts';
import { addToPeriod, bookCharge } from './periods.ts';
import type { AgentState, Hold, KeyState, Lot } from './state.ts';
import { addStored } from './stored-pictures.ts';

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
