import { randomInt } from 'node:crypto';
import type { SetAgent } from '../ledger/command.ts';
import type { Ledger, UnavailableResult } from '../ledger/ledger.ts';
import { executeDurably } from './execute-durably.ts';

const ATTEMPTS = 50;
const JUMP_MAX = 1_024;
const VERSION_MAX = 2 ** 48 - 1;

export interface NewAgent {
  name: string;
  status: 'active' | 'inactive';
  /** Who speaks for the agent's status from now on. */
  source: string;
}

export type CreateAgentResult = { ok: true; agentId: number } | UnavailableResult;

/**
 * An account: an agent without a token. Its id is the lowest free one, or one soon after it: any number of processes may
 * make agents at once, and the ledger's step decides who has an id. The lowest, so that a feed that names a far one by
 * mistake moves no later numbers.
 */
export async function createAgent(
  { ledger }: { ledger: Ledger },
  { name, status, source }: NewAgent,
): Promise<CreateAgentResult> {
  const agents = await ledger.listAgents();
  if (agents === 'unavailable') return { ok: false, reason: 'unavailable' };
  const taken = new Set(agents.map((agent) => agent.agentId));
  let agentId = firstFree(taken, 1) - 1;
  // Drawn, so that it tells our agent from one that somebody else has just made. The next change has a greater one.
  const sourceVersion = randomInt(VERSION_MAX);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    agentId = firstFree(taken, agentId + stepOf(attempt));
    const command: SetAgent = {
      type: 'set_agent',
      agentId,
      mode: 'create',
      source,
      sourceVersion,
      status,
      name,
      token: null,
    };
    const result = await executeDurably(ledger, command);
    if (!result.ok && result.reason === 'unavailable') return { ok: false, reason: 'unavailable' };
    if (!result.ok) continue;
    const isOurs = result.repeated ? await isMadeBy(ledger, command) : true;
    if (isOurs === 'unavailable') return { ok: false, reason: 'unavailable' };
    if (isOurs) return { ok: true, agentId };
  }
  return { ok: false, reason: 'unavailable' };
}

/** Whoever has lost a race for a number between others goes on behind them, however many there are. */
function firstFree(taken: ReadonlySet<number>, fromId: number): number {
  let id = fromId;
  while (taken.has(id)) id += 1;
  return id;
}

/** The further, the more often others were faster: hundreds at once would else try each other's ids one by one. */
const stepOf = (attempt: number): number => 1 + randomInt(Math.min(2 ** attempt, JUMP_MAX));

/** A ledger that heard no answer asks once more, and is told that it was done: by our first time, or by another one. */
async function isMadeBy(ledger: Ledger, command: SetAgent): Promise<boolean | 'unavailable'> {
  const agent = await ledger.readAgent(command.agentId);
  if (agent === null || agent === 'unavailable') return 'unavailable';
  const said = agent.statusBySource.find(({ source }) => source === command.source);
  return said?.sourceVersion === command.sourceVersion;
}
