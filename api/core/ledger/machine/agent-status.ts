import type { LedgerEventOf } from '../../events/ledger-event.ts';
import type { SetAgent, SetAgentResult } from '../command.ts';
import { changed, type Decision, headOf, unchanged } from './decision.ts';
import type { AgentState, AgentStatus, LedgerState } from './state.ts';

/** A suspension from any source wins; else one `active` is enough. */
export function agentStatus(agent: AgentState): AgentStatus {
  let active = false;
  for (const { status } of agent.statusBySource.values()) {
    if (status === 'suspended') return 'suspended';
    if (status === 'active') active = true;
  }
  return active ? 'active' : 'inactive';
}

/**
 * Each source counts its own versions, so that its messages may come late or twice. An agent that only credit has
 * made has been announced by nobody: `create` may still name it.
 */
export function decideSetAgent(
  state: LedgerState,
  command: SetAgent,
  nowMs: number,
): Decision<SetAgentResult> {
  const agent = state.agents.get(command.agentId);
  const known = agent?.statusBySource.get(command.source);
  if (known !== undefined && known.sourceVersion >= command.sourceVersion) {
    return unchanged({ ok: true, repeated: true });
  }
  if (agent === undefined && command.mode === 'update') {
    return unchanged({ ok: false, reason: 'unknown_agent' });
  }
  if (command.mode === 'create' && agent !== undefined && agent.statusBySource.size > 0) {
    return unchanged({ ok: false, reason: 'exists' });
  }
  // An update is about the status alone: name and token stay as they are now, whatever its sender has read.
  const { name, token } = command.mode === 'update' && agent !== undefined ? agent : command;
  const event: LedgerEventOf<'agent_set'> = {
    ...headOf('agent_set', command.agentId, agent, nowMs),
    source: command.source,
    sourceVersion: command.sourceVersion,
    status: command.status,
    name,
    token,
  };
  return changed({ ok: true, repeated: false }, event);
}
