import type { AgentStates, Checkpoint } from '#core/ledger/cluster/agent-states.ts';
import type { LogPosition } from '#core/ledger/cluster/effective-log.ts';
import { deserializeAgent, serializeAgent } from '#core/ledger/machine/agent-snapshot.ts';

export interface MemoryAgentStates extends AgentStates {
  /** As a store that has lost a row. */
  loseAgent(shard: number, agentId: number): void;
}

/** Copies in memory, as text, by the rules of the real store: what is older never replaces what is newer. */
export function createMemoryAgentStates(): MemoryAgentStates {
  const agents = new Map<number, Map<number, { at: LogPosition; text: string }>>();
  const checkpoints = new Map<number, Checkpoint>();
  return {
    loseAgent: (shard, agentId) => void agents.get(shard)?.delete(agentId),
    async readCheckpoint(shard) {
      const checkpoint = checkpoints.get(shard);
      return checkpoint === undefined ? null : structuredClone(checkpoint);
    },
    async readAgents(shard, onAgent) {
      for (const { text } of agents.get(shard)?.values() ?? []) onAgent(deserializeAgent(text));
    },
    async writeAgents(shard, at, changed) {
      const stored = agents.get(shard) ?? new Map();
      agents.set(shard, stored);
      for (const agent of changed) {
        const known = stored.get(agent.agentId);
        if (known !== undefined && isFurther(known.at, at)) continue;
        stored.set(agent.agentId, { at: { ...at }, text: serializeAgent(agent) });
      }
    },
    async writeCheckpoint(shard, checkpoint) {
      const known = checkpoints.get(shard);
      if (known !== undefined) {
        if (isFurther(known.position, checkpoint.position)) return;
        if (!isFurther(checkpoint.position, known.position) && known.offset > checkpoint.offset) return;
      }
      checkpoints.set(shard, structuredClone(checkpoint));
    },
  };
}

const isFurther = (a: LogPosition, b: LogPosition): boolean =>
  a.epoch > b.epoch || (a.epoch === b.epoch && a.seq > b.seq);
