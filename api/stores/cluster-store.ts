import { createCassandraAuditLog } from '#core/audit-log/cassandra-audit-log.ts';
import { createRedisBillStore } from '#core/bills/redis-bill-store.ts';
import { createCassandraCallHistory } from '#core/calls/cassandra-call-history.ts';
import { shareCapacity } from '#core/capacity/redis-shared-capacity.ts';
import { connectCassandra } from '#core/drivers/cassandra.ts';
import type { Log } from '#core/log.ts';
import { createCassandraMarketStore } from '#core/market/cassandra-market-store.ts';
import { createRedisLiveMarkets } from '#core/market/redis-live-markets.ts';
import { createRedisAddressWeights } from '#core/rates/redis-address-weights.ts';
import { createRedisRateLimiter } from '#core/rates/redis-rate-limiter.ts';
import type { StartWaits } from '#core/start-waits.ts';
import type { TrustedClock } from '#core/trusted-clock.ts';
import { createCassandraVideoHistory } from '#core/videos/cassandra-video-history.ts';
import type { ClusterStorage } from '../config/storage-settings.ts';
import { toCassandraOptions } from '../config/store-options.ts';
import { observeShards } from './observe-store.ts';
import { awaitSchemaIfThere, reachLedger } from './reach.ts';
import type { Store } from './store.ts';

export interface ClusterStoreOptions {
  storage: ClusterStorage;
  waits: StartWaits;
  clock: TrustedClock;
  log: Log;
}

/** Redis for money, Cassandra for history. Kafka is the workers': this process waits for what they tell of it. */
export async function openClusterStore(options: ClusterStoreOptions): Promise<Store> {
  const { storage, waits, clock, log } = options;
  await awaitSchemaIfThere({ waits, cassandra: storage.cassandra, log });
  const cluster = await reachLedger(storage, { waits, clock, log });
  const cassandra = connectCassandra(toCassandraOptions(storage.cassandra));
  const { ledger } = cluster;
  return {
    ledger,
    history: createCassandraCallHistory(cassandra, clock),
    videos: createCassandraVideoHistory(cassandra, clock),
    audit: createCassandraAuditLog(cassandra, clock),
    peppers: storage.peppers,
    bills: createRedisBillStore(cluster.redis),
    markets: { store: createCassandraMarketStore(cassandra), live: createRedisLiveMarkets(cluster.redis) },
    countWeights: (weightPerMinute) =>
      createRedisAddressWeights({ redis: cluster.redis, clock, log, weightPerMinute }),
    limitRate: (name, rate) => createRedisRateLimiter(cluster.redis, name, rate),
    isReady: () => ledger.stats().openShards > 0,
    times: () => ledger.stats().times,
    lag: () => ({ events: cluster.waiting(), ms: ledger.stats().lagMs }),
    observe: (registry) => observeShards(registry, ledger),
    share: (capacity, processId) => shareCapacity({ redis: cluster.redis, capacity, processId, clock, log }),
    async close() {
      waits.close();
      await cluster.close();
      await cassandra.shutdown();
    },
  };
}
