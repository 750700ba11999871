import { crc32 } from 'node:zlib';
import { shardOfAgent, shardOfKeyHash } from '../ledger/cluster/shards.ts';
import { serializeAgent } from '../ledger/machine/agent-snapshot.ts';
import type { AgentState } from '../ledger/machine/state.ts';
import { BackupError } from './backup-error.ts';
import { type ArchiveContents, readArchive } from './read-archive.ts';

/** What one shard will hold of an archive. */
export interface ShardPlan {
  shard: number;
  /** Sum of its agents' versions. */
  lastSeq: number;
  /** Checksums of its agents, by id. */
  copies: Map<number, number>;
}

export interface ShardPlans {
  contents: ArchiveContents;
  plans: ShardPlan[];
}

/** Reads the whole archive, and refuses what a cluster could not hold. */
export async function planShards(archive: string, shards: number): Promise<ShardPlans> {
  const plans = Array.from({ length: shards }, (_, shard) => ({ shard, lastSeq: 0, copies: new Map() }));
  const contents = await readArchive(archive, {
    onAgent(agent) {
      const { agentId } = agent;
      const plan = plans[shardOfAgent(agentId, shards)];
      if (plan === undefined) throw new Error(`agent ${agentId} has no shard`);
      plan.lastSeq += agent.version;
      plan.copies.set(agentId, checksumOf(agent));
      const strays = strayKeys(agent, shards);
      if (strays.length === 0) return;
      throw new BackupError(
        `The keys ${strays.join(', ')} of agent ${agentId} cannot be found in a cluster: an old release made them. ` +
          'Give the agent new ones, revoke these, and make a new backup.',
      );
    },
  });
  return { contents, plans };
}

export const checksumOf = (agent: AgentState): number => crc32(serializeAgent(agent));

/** A key is looked for where its hash belongs, and has to be there with its agent. */
function strayKeys({ agentId, keys }: AgentState, shards: number): number[] {
  const shard = shardOfAgent(agentId, shards);
  const active = [...keys.values()].filter(({ revokedAtMs }) => revokedAtMs === null);
  return active.filter(({ hash }) => shardOfKeyHash(hash, shards) !== shard).map(({ keyId }) => keyId);
}
