import type { SetAgent } from '../ledger/command.ts';
import type { AgentView, Ledger, UnavailableResult } from '../ledger/ledger.ts';
import type { AgentStatus } from '../ledger/machine/state.ts';
import { executeDurably } from './execute-durably.ts';

/** Two who speak with one voice at once take turns. */
const ATTEMPTS = 10;

export interface AgentStatusChange {
  agentId: number;
  source: string;
  status: AgentStatus;
}

/** `agent` as it is now: another source may still suspend what this one has activated. */
export type SetAgentStatusResult =
  | { ok: true; agent: AgentView }
  | { ok: false; reason: 'unknown_agent' }
  | UnavailableResult;

/** What one source says of an agent's status. Saying the same again changes nothing. */
export async function setAgentStatus(
  { ledger }: { ledger: Ledger },
  { agentId, source, status }: AgentStatusChange,
): Promise<SetAgentStatusResult> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const agent = await ledger.readAgent(agentId);
    if (agent === 'unavailable') return { ok: false, reason: 'unavailable' };
    if (agent === null) return { ok: false, reason: 'unknown_agent' };
    const before = agent.statusBySource.find((said) => said.source === source);
    if (before?.status === status) return { ok: true, agent };
    const command: SetAgent = {
      type: 'set_agent',
      agentId,
      mode: 'update',
      source,
      // The next version, whatever the clock says: a command of this source that was given up and arrives late has this
      // version too, or an older one, and then changes nothing.
      sourceVersion: (before?.sourceVersion ?? 0) + 1,
      status,
      name: agent.name,
      token: agent.token,
    };
    const result = await executeDurably(ledger, command);
    if (!result.ok && result.reason === 'unavailable') return { ok: false, reason: 'unavailable' };
  }
  return { ok: false, reason: 'unavailable' };
}
