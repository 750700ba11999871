import { MINUTE_MS, startOfDayMs } from '../clock.ts';
import { forgetUploads } from './apply-upload.ts';
import type { AgentState } from './state.ts';

/**
 * Clears away what no longer counts, by the event's own time, so that every fold forgets the same at the same
 * event. Ended calls once a minute, because it walks through an hour of them; grants, trades and uploads once a day,
 * when lots end.
 */
export function prune(agent: AgentState, atMs: number): void {
  if (atMs - agent.prunedAtMs < MINUTE_MS) return;
  agent.done.forget(atMs);
  if (startOfDayMs(atMs) > agent.prunedAtMs) {
    for (const [grantId, keptUntilMs] of agent.grants) if (keptUntilMs <= atMs) agent.grants.delete(grantId);
    for (const [name, trade] of agent.trades) if (trade.keptUntilMs <= atMs) agent.trades.delete(name);
    forgetUploads(agent, atMs);
  }
  agent.prunedAtMs = atMs;
}
