import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { systemClock } from '#core/clock.ts';
import { listenToRedis, openRedis } from '#core/drivers/redis.ts';
import { AppendLanes } from '#core/ledger/cluster/append-lanes.ts';
import { ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import { createRedisScripts } from '#core/ledger/cluster/redis-scripts.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';

/**
 * Acknowledges whatever is decided, as late as a publisher with a log near by and as many shards at once, but without the log.
 * An API process sees no difference; the core that the stores share is left to Redis. Nothing can be published after it.
 */
const { values } = parseArgs({ options: { redis: { type: 'string', default: '' } } });

const APPEND_MS = 5;
const EVENTS_AT_ONCE = 500;

const redis = await openRedis({ urls: [values.redis], cluster: false });
const scripts = createRedisScripts(redis);

const shards = Array.from({ length: SHARDS }, (_, shard) => new ShardKeys(shard));
/** A publisher's own: shards whose events lie with one broker share its next request. */
const lanes = new AppendLanes({
  clock: systemClock,
  send: () => pause(APPEND_MS),
  leaders: async () => new Map(shards.map((_, shard) => [shard, 'the broker'])),
  isRefusal: () => false,
});

async function follow(shard: number, { meta, outbox }: ShardKeys): Promise<() => void> {
  const [word, epoch, acked, offset] = await scripts.run('position', [meta, outbox], []);
  if (word !== 'OK') throw new Error(`a shard is ${word}`);
  let seq = Number(acked);
  let isBusy = false;
  let isWanted = false;
  const empty = async (): Promise<void> => {
    isBusy = true;
    while (isWanted) {
      // A wake-up may be heard before an answer that was given earlier.
      isWanted = false;
      const place = [String(epoch), seq, String(offset), seq, EVENTS_AT_ONCE];
      const [, , events] = await scripts.run('ack', [meta, outbox], place);
      if (!Array.isArray(events) || events.length === 0) continue;
      isWanted = true;
      await lanes.append(shard, events.map(String));
      seq = Number(events.at(-2));
    }
    isBusy = false;
  };
  return () => {
    isWanted = true;
    if (!isBusy) void empty();
  };
}

const wake = new Map<string, () => void>();
for (const [shard, keys] of shards.entries()) wake.set(keys.wakeChannel, await follow(shard, keys));
await listenToRedis(redis, [...wake.keys()], (channel) => wake.get(channel)?.());
for (const each of wake.values()) each();
console.log(JSON.stringify({ port: null }));
process.once('SIGTERM', () => process.exit(0));
