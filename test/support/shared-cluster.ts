import { inject } from 'vitest';
import { openRedis } from '#core/drivers/redis.ts';
import { ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import { readMetric } from './node-process.ts';

/** The cluster that all tests of a run share, see `test/services/cluster-setup.ts`. */
export interface SharedCluster {
  /** The blocks of a configuration that make a gateway part of it. */
  yaml: string;
  /** The block that has it keep files in the cluster's S3 store. */
  filesYaml: string;
  redisUrl: string;
  /** Of its one worker. */
  workerUrl: string;
  /** Where the worker asks a provider for prices: the first one of a test listens there. */
  providerPort: number;
}

declare module 'vitest' {
  interface ProvidedContext {
    cluster: SharedCluster;
  }
}

/** `undefined`: the tests run on the embedded shape, as do scripts that print tables outside of a test run. */
export const sharedCluster = (): SharedCluster | undefined =>
  process.env.VITEST === undefined ? undefined : inject('cluster');

/** Resolves once the history has what the ledger has decided by now. */
export async function untilProjected({ redisUrl, workerUrl }: SharedCluster): Promise<void> {
  const redis = await openRedis({ urls: [redisUrl], cluster: false });
  const seqs = await Promise.all(
    Array.from({ length: SHARDS }, (_, shard) => redis.hget(new ShardKeys(shard).meta, 'seq')),
  );
  redis.disconnect();
  const decided = seqs.reduce((sum, seq) => sum + Number(seq), 0);
  for (;;) {
    const events = await readMetric(workerUrl, 'faregate_projected_events_total');
    if (events >= decided && (await readMetric(workerUrl, 'faregate_projector_lag_events')) === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
