import type { AgentState } from './state.ts';

/** Slots in use: a call whose process stopped renewing its lease has left its slot, though not its hold. */
export function runningCalls(agent: AgentState, nowMs: number): number {
  let running = 0;
  for (const endsAtMs of agent.leases.values()) if (endsAtMs > nowMs) running++;
  return running;
}
