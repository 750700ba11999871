import { runRedisHistories } from '../ledger/cluster/redis-history.ts';
import { type Coverage, missing } from '../ledger/history/coverage.ts';
import { startRedis } from '../services/start-redis.ts';
import { connectTo } from '../support/connect-to.ts';
import { testDataDir } from '../support/data-dir.ts';

/** The same histories through the state machine and through Redis; rejects at the first difference. */
export async function tortureRedis(firstSeed: number, histories: number): Promise<object> {
  await using folder = await testDataDir();
  const service = await startRedis({ dir: folder.path, args: ['--appendfsync', 'no'] });
  const client = await connectTo(service);
  try {
    const coverage: Coverage = new Map();
    await runRedisHistories(client, firstSeed, histories, coverage);
    const never = missing(coverage);
    if (never.length > 0) throw new Error(`these never happened: ${never.join('; ')}`);
    return { histories, firstSeed, differences: 0 };
  } finally {
    client.disconnect();
    await service.stop('SIGKILL');
  }
}
