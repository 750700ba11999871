import type { Clock } from '#core/clock.ts';
import { isRedisAway } from '#core/drivers/redis.ts';
import { type ClusterLedger, openClusterLedger } from '#core/ledger/cluster/open-cluster-ledger.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import type { Log } from '#core/log.ts';
import type { StartWaits } from '#core/start-waits.ts';
import type { ClusterStorage } from './config/storage-settings.ts';
import { toRedisAddress } from './config/store-options.ts';
import { reach } from './store-error.ts';

/** The ledger of the configured cluster, for a process that starts. Throws `StoreError` for what no waiting mends. */
export const reachLedger = (
  { redis, allowUnsafe }: Pick<ClusterStorage, 'redis' | 'allowUnsafe'>,
  { waits, clock, log }: { waits: StartWaits; clock: Clock; log: Log },
): Promise<ClusterLedger> =>
  reach('Redis', () =>
    waits.until({
      store: 'Redis',
      attempt: () =>
        openClusterLedger({ address: toRedisAddress(redis), shards: SHARDS, clock, log, allowUnsafe }),
      isAway: isRedisAway,
    }),
  );
