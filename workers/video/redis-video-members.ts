import { randomBytes } from 'node:crypto';
import type { Clock, Timer } from '#core/clock.ts';
import type { RedisClient } from '#core/drivers/redis.ts';
import { VIDEO_MEMBER_LEASE_MS } from '#core/limits.ts';
import type { Log } from '#core/log.ts';
import { VIDEO_MEMBERS_KEY } from '#core/worker-names.ts';
import { memberOf } from './member-of.ts';

/** KEYS[1]: member -> told-at. ARGV: member, after how long one is forgotten. Answers who is there. */
const TELL = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', now))
local told, there = redis.call('HGETALL', KEYS[1]), {}
for i = 1, #told, 2 do
  local at = tonumber(told[i + 1])
  if not at or math.abs(now - at) > tonumber(ARGV[2]) then redis.call('HDEL', KEYS[1], told[i])
  else there[#there + 1] = told[i] end
end
return there
`;

export interface VideoMembers {
  /** Whether this process works on it, as far as it knows who else is there. */
  isOurs(videoId: string): boolean;
  readonly count: number;
  /** The others take over at their next look. */
  stop(): Promise<void>;
}

/**
 * Shares open videos out among the processes that say that they are alive. That two take themselves for the owner for a
 * moment is harmless, and so is that nobody does: the claim decides who sends, and the next look finds what was left.
 */
export async function joinVideoMembers(options: {
  redis: RedisClient;
  clock: Clock;
  log: Log;
}): Promise<VideoMembers> {
  const { redis, clock, log } = options;
  const self = randomBytes(8).toString('hex');
  let members: readonly string[] = [self];
  let timer: Timer | null = null;
  let stopped = false;
  let silent = false;

  async function tell(): Promise<void> {
    try {
      const there: unknown = await redis.eval(TELL, 1, VIDEO_MEMBERS_KEY, self, VIDEO_MEMBER_LEASE_MS);
      if (Array.isArray(there)) members = there.map(String);
      silent = false;
    } catch (error) {
      if (!silent) log.warn('the workers of videos cannot be counted, it is tried again', { error });
      silent = true;
    }
    if (!stopped) timer = clock.setTimer(VIDEO_MEMBER_LEASE_MS / 3, () => void tell());
  }

  await tell();
  return {
    isOurs: (videoId) => memberOf(members, videoId) === self,
    get count() {
      return members.length;
    },
    async stop() {
      stopped = true;
      timer?.cancel();
      await redis.hdel(VIDEO_MEMBERS_KEY, self).catch(() => 0);
    },
  };
}
