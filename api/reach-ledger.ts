import { isRedisAway } from '#core/drivers/redis.ts';
import { type ClusterLedger, openClusterLedger } from '#core/ledger/cluster/open-cluster-ledger.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import type { Log } from '#core/log.ts';
import type { StartWaits } from '#core/start-waits.ts';
import type { TrustedClock } from '#core/trusted-clock.ts';
import type { ClusterStorage } from './config/storage-settings.ts';
import { toRedisAddress } from './config/store-options.ts';
import { reach } from './store-error.ts';

/** The ledger of the configured cluster, for a process that starts. Throws `StoreError` for what no waiting mends. */
export const reachLedger = (
  { redis, allowUnsafe }: Pick<ClusterStorage, 'redis' | 'allowUnsafe'>,
  { waits, clock, log }: { waits: StartWaits; clock: TrustedClock; log: Log },
): Promise<ClusterLedger> =>
  reach('Redis', () =>
    waits.until({
      store: 'Redis',
      attempt: () =>
        openClusterLedger({
          ...{ address: toRedisAddress(redis), shards: SHARDS, clock, log, allowUnsafe },
          onNodeTime: (nodeMs) => clock.noteOther(nodeMs),
        }),
      isAway: isRedisAway,
    }),
  );
