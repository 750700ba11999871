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
 * Counts over all processes of a cluster. Up to half of the limit a process lets reads through by itself and reports them a
 * moment later; above it each read asks Redis, so that the limit is exact. While Redis is away each process counts for
 * itself, because public reads never fail for it.
 */
export const createRedisAddressWeights = (options: RedisAddressWeightsOptions): AddressWeights =>
  new RedisAddressWeights(options);

class RedisAddressWeights implements AddressWeights {
  readonly #options: RedisAddressWeightsOptions;
  readonly #known = new MinuteTable<KnownWeight>((address, minute) => ({
    key: `faregate:weight:${minute}:${address}`,
    minute,
    total: 0,
    toldAtMs: Number.NEGATIVE_INFINITY,
    untold: 0,
    sent: 0,
  }));
  readonly #waiting = new Set<KnownWeight>();
  #tellsSoon = false;
  /** `null`: Redis answers. */
  #retryAtMs: number | null = null;

  constructor(options: RedisAddressWeightsOptions) {
    this.#options = options;
  }

  async count(address: string, weight: number): Promise<Counted> {
    const { clock, weightPerMinute } = this.#options;
    const of = this.#known.at(address, clock.now());
    if (this.#retryAtMs !== null) return this.#countAlone(of, weight);
    const limit = weightPerMinute();
    const isFresh = clock.monotonicMs() - of.toldAtMs <= WEIGHTS_TOLD_MS;
    const isFew = of.sent + of.untold + weight <= limit / UNTOLD_PART;
    if (isFresh && isFew && usedOf(of) + weight <= limit / 2) return this.#letThrough(of, weight);
    const fits = await this.#tell(of, weight);
    if (fits === null) return this.#countAlone(of, weight);
    return fits ? { waitMs: 0, used: usedOf(of) } : this.#refuse(of);
  }

  /** While Redis is away. */
  #countAlone(of: KnownWeight, weight: number): Counted {
    const fits = usedOf(of) + weight <= this.#options.weightPerMinute();
    return fits ? this.#letThrough(of, weight) : this.#refuse(of);
  }

  #letThrough(of: KnownWeight, weight: number): Counted {
    of.untold += weight;
    if (this.#waiting.size >= SUBJECTS_MAX) this.#waiting.clear();
    this.#waiting.add(of);
    this.#tellAllSoon();
    return { waitMs: 0, used: usedOf(of) };
  }

  #refuse(of: KnownWeight): Counted {
    return { waitMs: untilNextMinuteMs(this.#options.clock.now()), used: usedOf(of) };
  }

  /** Whether the weight fitted; `null`: Redis is away. */
  async #tell(of: KnownWeight, weight: number): Promise<boolean | null> {
    const { redis, clock, log, weightPerMinute } = this.#options;
    const askedAtMs = clock.monotonicMs();
    const told = of.untold;
    of.untold = 0;
    of.sent += told;
    this.#waiting.delete(of);
    try {
      const answer = await redis.eval(ADD, 1, of.key, told, weight, weightPerMinute(), KEPT_MS);
      const [fits, total] = pairOf(answer);
      of.total = Math.max(of.total, total);
      of.toldAtMs = askedAtMs;
      this.#retryAtMs = null;
      return fits === 1;
    } catch (error) {
      if (this.#retryAtMs === null)
        log.warn('weights of addresses cannot be shared with other processes, it is tried again', { error });
      this.#retryAtMs = clock.monotonicMs() + WEIGHTS_RETRY_MS;
      // Whether Redis has counted it is unknown; this process has.
      of.total += told;
      return null;
    } finally {
      of.sent -= told;
    }
  }

  #tellAllSoon(): void {
    if (this.#tellsSoon) return;
    this.#tellsSoon = true;
    this.#options.clock.setTimer(WEIGHTS_TOLD_MS, () => this.#tellAll());
  }

  #tellAll(): void {
    const { clock } = this.#options;
    this.#tellsSoon = false;
    const minute = minuteOf(clock.now());
    for (const of of this.#waiting) {
      if (of.minute !== minute) this.#waiting.delete(of);
      else if (this.#retryAtMs === null) void this.#tell(of, 0);
      else if (clock.monotonicMs() >= this.#retryAtMs) {
        // One of them finds out whether Redis answers again.
        this.#retryAtMs = clock.monotonicMs() + WEIGHTS_RETRY_MS;
        void this.#tell(of, 0);
      }
    }
    if (this.#waiting.size > 0) this.#tellAllSoon();
  }
}

const usedOf = (of: KnownWeight): number => of.total + of.sent + of.untold;

function pairOf(answer: unknown): [number, number] {
  const [fits, total] = Array.isArray(answer) ? answer.map(Number) : [];
  if (fits === undefined || total === undefined) throw new Error('Redis answered no pair of numbers.');
  return [fits, total];
}
