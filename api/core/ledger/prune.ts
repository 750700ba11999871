import { MINUTE_MS, startOfDayMs } from '../clock.ts';
import { forgetUploads } from './apply-upload.ts';
import { isAhead } from './is-ahead.ts';
import type { AgentState } from './state.ts';
import { forgetStored } from './stored-pictures.ts';

/**
 * Clears away what no longer counts, by the event's own time, so that every fold forgets the same at the same
 * event. Ended calls and videos once a minute, because it walks through an hour of them; grants, trades, uploads and
 * pictures once a day, when lots end.
 */
export function prune(agent: AgentState, atMs: number): void {
  if (atMs - agent.prunedAtMs < MINUTE_MS && !isAhead(agent.prunedAtMs, atMs)) return;
  agent.done.forget(atMs);
  agent.videos.forget(atMs);
  if (startOfDayMs(atMs) > agent.prunedAtMs) {
    for (const [grantId, keptUntilMs] of agent.grants) if (keptUntilMs <= atMs) agent.grants.delete(grantId);
    for (const [name, trade] of agent.trades) if (trade.keptUntilMs <= atMs) agent.trades.delete(name);
    forgetUploads(agent, atMs);
    forgetStored(agent, atMs);
  }
  agent.prunedAtMs = atMs;
}
