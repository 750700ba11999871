import type { Redis } from 'ioredis';
import type { Clock } from '#core/clock.ts';
import type { RedisClient } from '#core/drivers/redis.ts';
import { ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import { createRedisLedger } from '#core/ledger/cluster/redis-ledger.ts';
import { asksTime, createRedisScripts, type RedisScripts } from '#core/ledger/cluster/redis-scripts.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import type { Log } from '#core/log.ts';
import { PATIENT_MS } from './patience.ts';

/** Takes the time from the command's last argument, so that a test can move it. */
const TEST_CLOCK = 'local clock_ms = tonumber(ARGV[#ARGV])';

/** The real scripts, but for their clock. */
export function scriptsAt(redis: RedisClient, nowMs: () => number): RedisScripts {
  const scripts = createRedisScripts(redis, { clock: TEST_CLOCK });
  return {
    run: (name, keys, args) => scripts.run(name, keys, asksTime(name) ? [...args, nowMs()] : args),
  };
}

const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };

/**
 * The real scripts in a real, empty Redis, as one open shard whose log has everything at once. `between` may lose
 * answers on their way.
 */
export async function createTestRedisLedger(
  redis: Redis,
  clock: Clock,
  between: (scripts: RedisScripts) => RedisScripts = (scripts) => scripts,
): Promise<Ledger> {
  redis.options.commandTimeout = PATIENT_MS;
  await redis.flushall();
  const scripts = scriptsAt(redis, () => clock.now());
  const shard = new ShardKeys(0);
  await openEmptyShard(scripts, shard);
  return createRedisLedger({
    scripts: between(scripts),
    shards: 1,
    clock,
    log: silentLog,
    async acknowledged(_shard, place) {
      await scripts.run('ack', [shard.meta, shard.outbox], [...place.split('-'), '0', 0, 1]);
      return 'durable';
    },
  });
}

/** As a recovery leaves a shard of which the log knows nothing. */
export async function openEmptyShard(scripts: RedisScripts, shard: ShardKeys): Promise<void> {
  await scripts.run('claim', shard.claimed, ['nonce']);
  await scripts.run('open', [shard.meta, shard.outbox], ['nonce', 1, 0, 0, '0']);
}
