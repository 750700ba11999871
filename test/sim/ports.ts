import type { AgentStates } from '#core/ledger/cluster/agent-states.ts';
import type { LedgerLog } from '#core/ledger/cluster/ledger-log.ts';
import type { ShardLedger } from '#core/ledger/cluster/redis-ledger.ts';
import type { RedisScripts } from '#core/ledger/cluster/redis-scripts.ts';
import type { Command } from '#core/ledger/command.ts';
import { createMemoryAgentStates } from '../support/memory-agent-states.ts';
import { type ScriptHandlers, scriptHandlers } from './script-handlers.ts';
import { type IdentityOf, runAndReplId } from './sim-redis.ts';

export interface PublisherPorts {
  scripts: RedisScripts;
  log: LedgerLog;
  states: AgentStates;
}

/** What stands between the product's code and its world: where a test takes a rule away. */
export interface SimPorts {
  handlers: ScriptHandlers;
  identityOf: IdentityOf;
  /** What a publisher is given, each of them its own. */
  publisher(ports: PublisherPorts): PublisherPorts;
  /** Answered without waiting for the log. */
  answersAtOnce(command: Command): boolean;
  /** What the settlement loop sees. */
  settlement(ledger: ShardLedger): ShardLedger;
  /** Where the copies of agents are kept. */
  agentStates(): AgentStates;
}

/** Every rule in its place. */
export const realPorts: SimPorts = {
  handlers: scriptHandlers,
  identityOf: runAndReplId,
  publisher: (ports) => ports,
  answersAtOnce: () => false,
  settlement: (ledger) => ledger,
  agentStates: createMemoryAgentStates,
};
