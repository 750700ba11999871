import type { CallId } from '../ids.ts';
import { DONE_KEPT_MS } from '../limits.ts';
import type { AgentState, DoneCall } from './state.ts';

/**
 * An ended call counts as known for exactly this long, whenever its entry is cleared away, so that every
 * implementation of the ledger answers alike.
 */
export function findDone(agent: AgentState, callId: CallId, nowMs: number): DoneCall | null {
  const done = agent.done.get(callId);
  return done !== undefined && isKept(done, nowMs) ? done : null;
}

export const isKept = (done: DoneCall, nowMs: number): boolean => nowMs < done.settledAtMs + DONE_KEPT_MS;
