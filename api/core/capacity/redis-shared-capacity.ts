import { type Clock, SECOND_MS, type Timer } from '../clock.ts';
import type { RedisClient } from '../drivers/redis.ts';
import type { Log } from '../log.ts';
import type { Capacity } from './capacity.ts';

/** How often a process tells the others what it holds of the operator's pool. */
export const CAPACITY_SHARE_MS = SECOND_MS;

/** What a process that has said nothing for so long held is over: it has died, or cannot start calls either. */
const FORGOTTEN_MS = 10 * SECOND_MS;

const KEY = 'faregate:capacity';

/** KEYS[1]: process -> 'held told-at'. ARGV: process, what it holds, after how long one is forgotten. Answers the others' sum. */
const SHARE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ' ' .. string.format('%.0f', now))
local told, others = redis.call('HGETALL', KEYS[1]), 0
for i = 1, #told, 2 do
  local held, at = string.match(told[i + 1], '^(%d+) (%d+)$')
  if not at or math.abs(now - tonumber(at)) > tonumber(ARGV[3]) then redis.call('HDEL', KEYS[1], told[i])
  elseif told[i] ~= ARGV[1] then others = others + tonumber(held) end
end
return string.format('%.0f', others)
`;

export interface SharedCapacityOptions {
  redis: RedisClient;
  capacity: Pick<Capacity, 'heldNanoUsd' | 'othersNanoUsd'>;
  /** Of this process. */
  processId: string;
  clock: Clock;
  log: Log;
}

/**
 * Tells the other processes once a second what this one holds of the operator's pool, and hears what they hold: all
 * together may pass the pool by what starts within that second. While Redis is away no call starts anyway.
 */
export function shareCapacity(options: SharedCapacityOptions): { stop(): Promise<void> } {
  const { redis, capacity, processId, clock, log } = options;
  let timer: Timer | null = null;
  let stopped = false;
  let silent = false;

  async function tell(): Promise<void> {
    try {
      const held = String(capacity.heldNanoUsd);
      const others = await redis.eval(SHARE, 1, KEY, processId, held, FORGOTTEN_MS);
      capacity.othersNanoUsd = BigInt(String(others));
      silent = false;
    } catch (error) {
      if (!silent) log.warn('the pool cannot be shared with other processes, it is tried again', { error });
      silent = true;
    }
    if (!stopped) timer = clock.setTimer(CAPACITY_SHARE_MS, () => void tell());
  }

  void tell();
  return {
    async stop() {
      stopped = true;
      timer?.cancel();
      await redis.hdel(KEY, processId).catch(() => 0);
    },
  };
}
