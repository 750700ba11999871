import { expect, test, vi } from 'vitest';
import { useRedis } from '../../support/redis-server.ts';
import { describeWith } from '../../support/with-services.ts';
import { missing } from '../history/coverage.ts';
import { runRedisHistories } from './redis-history.ts';

// This test compares decisions. A machine that stands still for half a second under the load of other tests decides nothing else.
vi.mock('#core/drivers/redis.ts', async (original) => ({
  ...(await original<typeof import('#core/drivers/redis.ts')>()),
  REDIS_TIMEOUT_MS: 60_000,
}));

describeWith(['redis'], 'the scripts of Redis', () => {
  // What is compared here is what they decide, not what a disk keeps of it.
  const redis = useRedis(['--appendfsync', 'no']);

  test('rule 2, steps: take two thousand histories the way that the state machine takes them, and those saw everything', async () => {
    const coverage = new Map<string, number>();
    await runRedisHistories(redis.client, 1, 2_000, coverage);
    expect(missing(coverage)).toEqual([]);
  });
});
