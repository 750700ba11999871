import { type Clock, MINUTE_MS } from '../clock.ts';
import { SUBJECTS_MAX } from '../limits.ts';
import { setBounded } from '../set-bounded.ts';

/** What one address reads in a minute of the UTC clock, counted in weights. */
export interface AddressWeights {
  /** Counts the weight if it fits, and nothing otherwise. */
  count(address: string, weight: number): Promise<Counted>;
}

export interface Counted {
  /** 0: it was counted. Otherwise the milliseconds until the next minute begins. */
  waitMs: number;
  /** Of this minute, with what was counted now. */
  used: number;
}

/** Counts for a gateway that is one process. */
export function createLocalAddressWeights(clock: Clock, weightPerMinute: () => number): AddressWeights {
  const minute = new MinuteTable(() => ({ used: 0 }));
  return {
    async count(address, weight) {
      const nowMs = clock.now();
      const of = minute.at(address, nowMs);
      if (of.used + weight > weightPerMinute()) return { waitMs: untilNextMinuteMs(nowMs), used: of.used };
      of.used += weight;
      return { waitMs: 0, used: of.used };
    },
  };
}

export const minuteOf = (nowMs: number): number => Math.floor(nowMs / MINUTE_MS);

export const untilNextMinuteMs = (nowMs: number): number => MINUTE_MS - (nowMs % MINUTE_MS);

/** What is known of addresses in the present minute. In the next one nothing of it counts any more. */
export class MinuteTable<T> {
  readonly #make: (address: string, minute: number) => T;
  #minute = 0;
  #known = new Map<string, T>();

  constructor(make: (address: string, minute: number) => T) {
    this.#make = make;
  }

  at(address: string, nowMs: number): T {
    const minute = minuteOf(nowMs);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#known = new Map();
    }
    return this.#known.get(address) ?? this.#add(address);
  }

  #add(address: string): T {
    const made = this.#make(address, this.#minute);
    // Whoever has this many addresses gains nothing by it that so many addresses would not give.
    setBounded(this.#known, address, made, SUBJECTS_MAX);
    return made;
  }
}
