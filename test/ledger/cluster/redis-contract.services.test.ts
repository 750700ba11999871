import { ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import { createTestRedisLedger } from '../../support/redis-ledger.ts';
import { useRedis } from '../../support/redis-server.ts';
import { describeWith } from '../../support/with-services.ts';
import { describeLedgerContract } from '../ledger-contract.ts';

describeWith(['redis'], 'Redis', () => {
  const redis = useRedis();
  describeLedgerContract('decided by Redis', async ({ clock }) => ({
    ledger: await createTestRedisLedger(redis.client, clock),
    async setTimeBack() {
      // A rebuilt shard goes on from its node's clock: `open.lua`.
      await redis.client.hset(new ShardKeys(0).meta, 'last_ms', clock.now());
    },
  }));
});
