import type { Clock } from '../clock.ts';
import type { SetAgent } from '../ledger/command.ts';
import type { Ledger, UnavailableResult } from '../ledger/ledger.ts';
import { executeDurably } from './execute-durably.ts';

/** Others may take the next ids while we ask for one; so many in a row means that something else is wrong. */
const ATTEMPTS = 50;

export interface NewAgent {
  name: string;
  status: 'active' | 'inactive';
  /** Who speaks for the agent's status from now on. */
  source: string;
}

export type CreateAgentResult = { ok: true; agentId: number } | UnavailableResult;

/** An account: an agent without a token. Its id is the next free one. */
export async function createAgent(
  { ledger, clock }: { ledger: Ledger; clock: Clock },
  { name, status, source }: NewAgent,
): Promise<CreateAgentResult> {
  const agents = await ledger.listAgents();
  if (agents === 'unavailable') return { ok: false, reason: 'unavailable' };
  let agentId = agents.reduce((max, agent) => Math.max(max, agent.agentId), 0);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    agentId += 1;
    const command: SetAgent = {
      type: 'set_agent',
      agentId,
      mode: 'create',
      source,
      sourceVersion: clock.now(),
      status,
      name,
      token: null,
    };
    const result = await executeDurably(ledger, command);
    // `repeated`: another one made this agent in the same millisecond. It is theirs, not ours.
    if (result.ok && !result.repeated) return { ok: true, agentId };
    if (!result.ok && result.reason === 'unavailable') return { ok: false, reason: 'unavailable' };
  }
  return { ok: false, reason: 'unavailable' };
}
