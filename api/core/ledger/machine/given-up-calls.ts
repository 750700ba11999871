import { type CallId, idTimeMs } from '../../ids.ts';
import {
  CALL_ID_AGE_MAX_MS,
  CLOCK_APART_MAX_MS,
  GIVEN_UP_AHEAD_MAX_MS,
  GIVEN_UP_CALLS_MAX,
} from '../../limits.ts';

/**
 * Calls whose process gave them up before the ledger had heard of them. Their `reserve` may still arrive, because a
 * network can deliver an old connection's bytes after a newer connection's, and then it must hold nothing.
 *
 * A mark is needed only until its id is too old to start anything, so `CALL_ID_AGE_MAX_MS` bounds the marks in time. At
 * their bound in number the oldest mark stands for every older id: such a start is refused, free of charge, and nothing
 * that was given up can come back. An id that a wrong clock dated ahead starts nothing before its time, but its `reserve` may be
 * late enough to arrive when it does, so it leaves a mark, too. As the oldest marks such ids would stand for every call of the
 * processes whose clocks are right, so at the bound they go first.
 */
export class GivenUpCalls {
  /** Ascending, so the oldest id is first. */
  readonly #ids: CallId[];

  constructor(ids: readonly CallId[] = []) {
    this.#ids = [...ids];
  }

  note(callId: CallId, nowMs: number): void {
    const after = this.#ids.findLastIndex((id) => id <= callId);
    if (this.#ids[after] !== callId) this.#ids.splice(after + 1, 0, callId);
    this.#dropAbove(nowMs + GIVEN_UP_AHEAD_MAX_MS);
    const oldestUseful = this.#ids.findIndex((id) => idTimeMs(id) >= nowMs - CALL_ID_AGE_MAX_MS);
    this.#ids.splice(0, oldestUseful < 0 ? this.#ids.length : oldestUseful);
    if (this.#ids.length >= GIVEN_UP_CALLS_MAX) this.#dropAbove(nowMs + CLOCK_APART_MAX_MS);
    this.#ids.splice(0, this.#ids.length - GIVEN_UP_CALLS_MAX);
  }

  #dropAbove(timeMs: number): void {
    const first = this.#ids.findIndex((id) => idTimeMs(id) > timeMs);
    if (first >= 0) this.#ids.splice(first);
  }

  has(callId: CallId, nowMs: number): boolean {
    const [oldest] = this.#ids;
    if (oldest === undefined || isAhead(oldest, nowMs)) return false;
    if (this.#ids.length >= GIVEN_UP_CALLS_MAX && idTimeMs(callId) <= idTimeMs(oldest)) return true;
    return this.#ids.includes(callId);
  }

  /** Ascending. */
  get ids(): readonly CallId[] {
    return this.#ids;
  }
}

const isAhead = (callId: CallId, nowMs: number): boolean => idTimeMs(callId) > nowMs + CLOCK_APART_MAX_MS;
