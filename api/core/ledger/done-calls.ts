import { SECOND_MS } from '../clock.ts';
import { type CallId, idTimeMs } from '../ids.ts';
import { DONE_KEPT_MS } from '../limits.ts';
import type { AgentState, DoneCall } from './state.ts';

/**
 * Ended calls, in one `Map` for every few seconds in which their ids were made: one `Map` of an hour's calls is
 * copied into fresh memory whenever it grows, which cost a busy agent a twentieth of every call.
 */
export class DoneCalls implements Iterable<readonly [CallId, DoneCall]> {
  readonly #slots = new Map<number, Map<CallId, DoneCall>>();

  constructor(entries: Iterable<readonly [CallId, DoneCall]> = []) {
    for (const [callId, done] of entries) this.set(callId, done);
  }

  get(callId: CallId): DoneCall | undefined {
    return this.#slots.get(slotOf(callId))?.get(callId);
  }

  has(callId: CallId): boolean {
    return this.get(callId) !== undefined;
  }

  /** In the order of the settlements: `forget` relies on it. */
  set(callId: CallId, done: DoneCall): void {
    const slot = this.#slots.get(slotOf(callId));
    if (slot === undefined) this.#slots.set(slotOf(callId), new Map([[callId, done]]));
    else slot.set(callId, done);
  }

  /** Drops what no longer counts at `atMs`. */
  forget(atMs: number): void {
    for (const [number, slot] of this.#slots) {
      for (const [callId, done] of slot) {
        if (isKept(done, atMs)) break;
        slot.delete(callId);
      }
      if (slot.size === 0) this.#slots.delete(number);
    }
  }

  *[Symbol.iterator](): Generator<readonly [CallId, DoneCall]> {
    for (const slot of this.#slots.values()) yield* slot;
  }
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
