import type { AgentState, AgentStatus } from './state.ts';

/** A suspension from any source wins; else one `active` is enough. */
export function agentStatus(agent: AgentState): AgentStatus {
  let active = false;
  for (const { status } of agent.statusBySource.values()) {
    if (status === 'suspended') return 'suspended';
    if (status === 'active') active = true;
  }
  return active ? 'active' : 'inactive';
}
