import { type Clock, MINUTE_MS, SECOND_MS } from '../clock.ts';
import type { RedisClient } from '../drivers/redis.ts';
import { SUBJECTS_MAX } from '../limits.ts';
import type { Log } from '../log.ts';
import {
  type AddressWeights,
  type Counted,
  MinuteTable,
  minuteOf,
  untilNextMinuteMs,
} from './address-weights.ts';

/** How often a process tells the others what it has counted for an address. */
export const WEIGHTS_TOLD_MS = SECOND_MS / 10;
/** How often a process tries to count with the others again while Redis is away. */
export const WEIGHTS_RETRY_MS = SECOND_MS;

/**
 * Adds what a process has let through already, and what it asks for if that still fits. KEYS[1]: an address in a minute.
 * ARGV: let through, asked for, the limit, how long to keep it in milliseconds. Answers whether it fitted, and the sum. A
 * full memory keeps nobody from reading.
 */
const ADD = `#!lua flags=allow-oom
local used = redis.call('INCRBY', KEYS[1], ARGV[1])
local fits = used + ARGV[2] <= tonumber(ARGV[3])
if fits then used = redis.call('INCRBY', KEYS[1], ARGV[2]) end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return {fits and 1 or 0, used}
`;

/** Longer than the minute, by what clocks of processes may be apart. */
const KEPT_MS = 2 * MINUTE_MS;
/**
 * A process tells what it has let through before that is more than this part of the limit. So a dozen of them know that half
 * of the limit is used while there is room for what each of them, and those that ask, let through meanwhile.
 */
const UNTOLD_PART = 48;

interface KnownWeight {
  key: string;
  minute: number;
  /** Of all processes, as Redis said last. */
  total: number;
  /** On the process's own clock. Who was not told lately asks first: others may have used all of it. */
  toldAtMs: number;
  /** Let through here, and not told yet. */
  untold: number;
  /** On its way. */
  sent: number;
}

export interface RedisAddressWeightsOptions {
  redis: RedisClient;
  clock: Clock;
  log: Log;
  weightPerMinute: () => number;
}

/**
 * Of all processes of a cluster. Up to half of the limit a process lets through by itself what it tells the others a moment
 * later; above it each read is asked for, so that the limit is exact. While Redis is away each process counts for itself:
 * public reads never fail for it.
 */
export function createRedisAddressWeights(options: RedisAddressWeightsOptions): AddressWeights {
  const { redis, clock, log, weightPerMinute } = options;
  const known = new MinuteTable<KnownWeight>((address, minute) => ({
    key: `faregate:weight:${minute}:${address}`,
    minute,
    total: 0,
    toldAtMs: Number.NEGATIVE_INFINITY,
    untold: 0,
    sent: 0,
  }));
  const waiting = new Set<KnownWeight>();
  let tellsSoon = false;
  /** `null`: Redis answers. */
  let retryAtMs: number | null = null;

  const usedOf = (of: KnownWeight): number => of.total + of.sent + of.untold;

  /** Whether the weight fitted; `null`: Redis is away. */
  async function tell(of: KnownWeight, weight: number): Promise<boolean | null> {
    const askedAtMs = clock.monotonicMs();
    const told = of.untold;
    of.untold = 0;
    of.sent += told;
    waiting.delete(of);
    try {
      const answer = await redis.eval(ADD, 1, of.key, told, weight, weightPerMinute(), KEPT_MS);
      const [fits, total] = pairOf(answer);
      of.total = Math.max(of.total, total);
      of.toldAtMs = askedAtMs;
      retryAtMs = null;
      return fits === 1;
    } catch (error) {
      if (retryAtMs === null)
        log.warn('weights of addresses cannot be shared with other processes, it is tried again', { error });
      retryAtMs = clock.monotonicMs() + WEIGHTS_RETRY_MS;
      // Nobody knows whether it was counted there; here it was.
      of.total += told;
      return null;
    } finally {
      of.sent -= told;
    }
  }

  function scheduleReport(of: KnownWeight): void {
    if (waiting.size >= SUBJECTS_MAX) waiting.clear();
    waiting.add(of);
    tellAllSoon();
  }

  function tellAllSoon(): void {
    if (tellsSoon) return;
    tellsSoon = true;
    clock.setTimer(WEIGHTS_TOLD_MS, tellAll);
  }

  function tellAll(): void {
    tellsSoon = false;
    const minute = minuteOf(clock.now());
    for (const of of waiting) {
      if (of.minute !== minute) waiting.delete(of);
      else if (retryAtMs === null) void tell(of, 0);
      else if (clock.monotonicMs() >= retryAtMs) {
        // One of them finds out whether Redis answers again.
        retryAtMs = clock.monotonicMs() + WEIGHTS_RETRY_MS;
        void tell(of, 0);
      }
    }
    if (waiting.size > 0) tellAllSoon();
  }

  function letThrough(of: KnownWeight, weight: number): Counted {
    of.untold += weight;
    scheduleReport(of);
    return { waitMs: 0, used: usedOf(of) };
  }

  const refuse = (of: KnownWeight): Counted => ({
    waitMs: untilNextMinuteMs(clock.now()),
    used: usedOf(of),
  });

  /** While Redis is away. */
  const countAlone = (of: KnownWeight, weight: number): Counted =>
    usedOf(of) + weight <= weightPerMinute() ? letThrough(of, weight) : refuse(of);

  async function ask(of: KnownWeight, weight: number): Promise<Counted> {
    const fits = await tell(of, weight);
    if (fits === null) return countAlone(of, weight);
    return fits ? { waitMs: 0, used: usedOf(of) } : refuse(of);
  }

  return {
    count(address, weight) {
      const of = known.at(address, clock.now());
      if (retryAtMs !== null) return countAlone(of, weight);
      const limit = weightPerMinute();
      const isFresh = clock.monotonicMs() - of.toldAtMs <= WEIGHTS_TOLD_MS;
      const isFew = of.sent + of.untold + weight <= limit / UNTOLD_PART;
      return isFresh && isFew && usedOf(of) + weight <= limit / 2 ? letThrough(of, weight) : ask(of, weight);
    },
  };
}

function pairOf(answer: unknown): [number, number] {
  const [fits, total] = Array.isArray(answer) ? answer.map(Number) : [];
  if (fits === undefined || total === undefined) throw new Error('Redis answered no pair of numbers.');
  return [fits, total];
}
