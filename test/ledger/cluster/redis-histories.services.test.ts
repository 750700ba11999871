import { expect, test } from 'vitest';
import { PATIENT_MS } from '../../support/patience.ts';
import { useRedis } from '../../support/redis-server.ts';
import { describeWith } from '../../support/with-services.ts';
import { missing } from '../history/coverage.ts';
import { runRedisHistories } from './redis-history.ts';

describeWith(['redis'], 'the scripts of Redis', () => {
  // The test compares decisions, so neither the disk nor the speed of a busy machine may end it.
  const redis = useRedis(['--appendfsync', 'no'], PATIENT_MS);

  test('rule 2, steps: take two thousand histories the way that the state machine takes them, and those saw everything', async () => {
    const coverage = new Map<string, number>();
    await runRedisHistories(redis.client, 1, 2_000, coverage);
    expect(missing(coverage)).toEqual([]);
  });
});
