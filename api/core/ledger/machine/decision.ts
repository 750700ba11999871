import type { LedgerEvent } from '../../events/ledger-event.ts';
import type { CallId } from '../../ids.ts';
import type { NanoUsd } from '../../money.ts';
import type { AgentState } from './state.ts';

/**
 * The answer of `decide`. The caller journals the events, gives each to `apply`, and gives the rest of the decision to
 * `applyUnjournaled`. A refused or repeated command has no event and no lease.
 */
export interface Decision<R> {
  result: R;
  /** At most one today. */
  events: readonly LedgerEvent[];
  /** A slot kept for another minute, or left now: not journaled, so a fold does not have it. */
  lease: Lease | null;
  /** A call that ended before the ledger heard of its start: not journaled either. */
  givenUp: GivenUpCall | null;
}

export interface Lease {
  agentId: number;
  callId: CallId;
  endsAtMs: number;
}

export interface GivenUpCall {
  agentId: number;
  callId: CallId;
  atMs: number;
}

const NO_EVENTS: readonly LedgerEvent[] = Object.freeze([]);

export const unchanged = <R>(result: R): Decision<R> => ({
  result,
  events: NO_EVENTS,
  lease: null,
  givenUp: null,
});

export const changed = <R>(result: R, event: LedgerEvent): Decision<R> => ({
  result,
  events: [event],
  lease: null,
  givenUp: null,
});

/** Makes the members that every event begins with. `agent` is as before the event, `undefined` where the event makes it. */
export const headOf = <T extends LedgerEvent['type']>(
  type: T,
  agentId: number,
  agent: AgentState | undefined,
  atMs: number,
) => ({ v: 1, type, agentId, version: (agent?.version ?? 0) + 1, atMs }) as const;

/** A negative amount would mint money: it is a bug of the caller, not an answer. */
export function requireAmount(nanoUsd: NanoUsd): void {
  if (nanoUsd < 0n) throw new RangeError(`negative amount: ${nanoUsd}`);
}
