import { randomBytes } from 'node:crypto';
import { type Clock, every, SECOND_MS } from '../clock.ts';
import { ShardKeys } from '../ledger/cluster/redis-keys.ts';
import type { RedisScripts } from '../ledger/cluster/redis-scripts.ts';
import { BackupError } from './backup-error.ts';
import type { ShardsHold } from './restore-cluster.ts';

export interface ShardsHoldOptions {
  scripts: RedisScripts;
  shards: number;
  clock: Clock;
}

/** Short enough to wait for where the restore has died. */
const LEASE_MS = 5 * SECOND_MS;
const RENEW_MS = SECOND_MS;

/**
 * Takes the lease of every shard, as a worker does that rebuilds one: workers that start meanwhile wait, and so does
 * another restore. Refuses shards that decide already, or at which somebody is.
 */
export async function holdShards({ scripts, shards, clock }: ShardsHoldOptions): Promise<ShardsHold> {
  const holder = `restore-${randomBytes(8).toString('hex')}`;
  const all = Array.from({ length: shards }, (_, shard) => new ShardKeys(shard));

  async function lease(leaseMs: number): Promise<void> {
    const words = await Promise.all(
      all.map(async ({ meta }) => (await scripts.run('lease', [meta], [holder, leaseMs]))[0]),
    );
    const busy = words.findIndex((word) => word !== 'OK');
    if (busy < 0) return;
    throw new BackupError(`A worker, or another restore, is at shard ${busy}: stop it, and restore again.`);
  }

  // Once it is lost, `confirm` says so.
  const timer = every(clock, RENEW_MS, () => void lease(LEASE_MS).catch(() => undefined));
  const release = async () => {
    timer.cancel();
    await lease(0).catch(() => undefined);
  };
  try {
    await lease(LEASE_MS);
    for (const [shard, { meta, outbox }] of all.entries()) {
      const [open] = await scripts.run('position', [meta, outbox], []);
      const [, left] = await scripts.run('leftover', [meta, outbox], ['-', 1]);
      if (open === 'FENCED' && Array.isArray(left) && left.length === 0) continue;
      throw new BackupError(
        `The cluster is in use: its Redis has a ledger, as shard ${shard} shows. Restore beside an empty Redis.`,
      );
    }
  } catch (error) {
    await release();
    throw error;
  }
  return { confirm: () => lease(LEASE_MS), release };
}
