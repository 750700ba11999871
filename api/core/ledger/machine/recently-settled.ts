import { SECOND_MS } from '../../clock.ts';
import { type CallId, idTimeMs } from '../../ids.ts';
import { DONE_KEPT_MS } from '../../limits.ts';
import type { AgentState, DoneCall } from './state.ts';

/**
 * Ended calls, in lists of their own for every few seconds in which their ids were made. Lists, because nearly all that
 * is asked here is whether a new id is known, and the newest id answers that; a `Map` of them copies itself as it grows,
 * which cost a busy agent a twentieth of every call.
 */
export class RecentlySettled implements Iterable<readonly [CallId, DoneCall]> {
  readonly #slots = new Map<number, Slot>();

  constructor(entries: Iterable<readonly [CallId, DoneCall]> = []) {
    for (const [callId, done] of entries) this.set(callId, done);
  }

  get(callId: CallId): DoneCall | undefined {
    const slot = this.#slots.get(slotOf(callId));
    if (slot === undefined || callId > slot.newestId) return undefined;
    return slot.calls[slot.ids.lastIndexOf(callId)];
  }

  has(callId: CallId): boolean {
    return this.get(callId) !== undefined;
  }

  /** In the order of the settlements: `forget` relies on it. Each id once. */
  set(callId: CallId, done: DoneCall): void {
    const slot = this.#slots.get(slotOf(callId));
    if (slot === undefined) {
      this.#slots.set(slotOf(callId), { ids: [callId], calls: [done], newestId: callId });
      return;
    }
    slot.ids.push(callId);
    slot.calls.push(done);
    if (callId > slot.newestId) slot.newestId = callId;
  }

  /** Drops what no longer counts at `atMs`. */
  forget(atMs: number): void {
    for (const [number, { ids, calls }] of this.#slots) {
      const kept = calls.findIndex((done) => isKept(done, atMs));
      if (kept < 0) this.#slots.delete(number);
      else if (kept > 0) {
        ids.splice(0, kept);
        calls.splice(0, kept);
      }
    }
  }

  *[Symbol.iterator](): Generator<readonly [CallId, DoneCall]> {
    for (const { ids, calls } of this.#slots.values()) {
      for (const [i, callId] of ids.entries()) {
        const done = calls[i];
        if (done !== undefined) yield [callId, done];
      }
    }
  }
}

/** Ids and calls stand at the same places. */
interface Slot {
  ids: CallId[];
  calls: DoneCall[];
  newestId: CallId;
}

const SLOT_MS = 8 * SECOND_MS;
const slotOf = (callId: CallId): number => Math.floor(idTimeMs(callId) / SLOT_MS);

/**
 * An ended call counts as known for exactly this long, whenever its entry is cleared away, so that every
 * implementation of the ledger answers alike.
 */
export function findDone(agent: AgentState, callId: CallId, nowMs: number): DoneCall | null {
  const done = agent.done.get(callId);
  return done !== undefined && isKept(done, nowMs) ? done : null;
}

export const isKept = (done: DoneCall, nowMs: number): boolean => nowMs < done.settledAtMs + DONE_KEPT_MS;
