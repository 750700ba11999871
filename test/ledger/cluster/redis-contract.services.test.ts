import { createTestRedisLedger } from '../../support/redis-ledger.ts';
import { useRedis } from '../../support/redis-server.ts';
import { describeWith } from '../../support/with-services.ts';
import { describeLedgerContract } from '../ledger-contract.ts';

describeWith(['redis'], 'Redis', () => {
  const redis = useRedis();
  describeLedgerContract('decided by Redis', ({ clock }) => createTestRedisLedger(redis.client, clock));
});
