import { createTestRedisLedger } from '../support/redis-ledger.ts';
import { useRedis } from '../support/redis-server.ts';
import { describeWith } from '../support/with-services.ts';
import { testCreateAgent } from './create-agent-contract.ts';

describeWith(['redis'], 'in Redis', () => {
  const redis = useRedis();
  testCreateAgent((clock) => createTestRedisLedger(redis.client, clock));
});
