import { MINUTE_MS, startOfDayMs } from '../clock.ts';
import { isKept } from './done-calls.ts';
import type { AgentState } from './state.ts';

/**
 * Clears away what no longer counts, by the event's own time, so that every fold forgets the same at the same
 * event. Ended calls once a minute: taking the oldest from the front of a large `Map` at every event would cost
 * more with each one (measured: 20 µs a call at 36,000 entries). Grants and trades once a day, when lots end.
 */
export function prune(agent: AgentState, atMs: number): void {
  if (atMs - agent.prunedAtMs < MINUTE_MS) return;
  for (const [callId, done] of agent.done) {
    if (isKept(done, atMs)) break;
    agent.done.delete(callId);
  }
  if (startOfDayMs(atMs) > agent.prunedAtMs) {
    for (const [grantId, keptUntilMs] of agent.grants) if (keptUntilMs <= atMs) agent.grants.delete(grantId);
    for (const [name, trade] of agent.trades) if (trade.keptUntilMs <= atMs) agent.trades.delete(name);
  }
  agent.prunedAtMs = atMs;
}
