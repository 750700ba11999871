import { type Clock, type MachineClock, MINUTE_MS, SECOND_MS } from './clock.ts';
import { CLOCK_APART_MAX_MS, CLOCK_JUMP_MIN_MS } from './limits.ts';

/** A clock that has not jumped for this long is taken to be right. */
export const CLOCK_PROVEN_MS = 5 * MINUTE_MS;

/** A wall clock that the ledger can write down: a jump is not believed before something else confirms it. */
export interface TrustedClock extends Clock {
  /** The jump forward that is not believed yet; `null` while the wall clock is believed. */
  doubt(): ClockDoubt | null;
  /** The milliseconds until the wall clock is believed if nothing changes; `null` if it is believed or that is not known. */
  believedInMs(): number | null;
  /** The operator says that the wall clock is right. False: it was not doubted. */
  accept(): boolean;
  /** How far the ledger's time has come: a wall clock that is not past it can do no more harm. */
  followLedger(timeMs: () => number): void;
  /** Another machine's clock, read just now. It confirms a jump once it has agreed with it for five minutes. */
  noteOther(otherMs: number): void;
  /** The reading that the next process on this machine needs to tell a jump from the time that has gone by. */
  reading(): ClockReading;
}

export interface ClockDoubt {
  /** How far the wall clock is ahead of the time that has gone by. */
  aheadMs: number;
  /** False: it is believed by itself once it has stood for five minutes. */
  needsConfirmation: boolean;
}

export interface ClockReading {
  bootId: string | null;
  uptimeMs: number;
  /** The trusted time, and by how much the wall clock was ahead of it; 0 when the wall clock was believed. */
  atMs: number;
  doubtedAheadMs: number;
  /** How far the furthest time that was ever believed is ahead of it: after a step back, more than 0. */
  furthestAheadMs: number;
  /** The machine had been up for five minutes, so that it had learnt the time. */
  isProven: boolean;
}

/**
 * The wall clock of a machine, as long as it agrees with the machine's uptime, which counts sleep and which nobody sets.
 *
 * - A step of up to a minute is followed at once.
 * - A jump forward is not believed: time goes on by the monotonic clock until the wall clock is right again, `accept` is
 *   called, another machine's clock has agreed with it for five minutes, or a second process starts with the same jump.
 *   A machine that thinks for a moment that it is next week would otherwise end every agent's credit.
 * - In a machine's first five minutes, in which it may still learn the time, a jump is believed once it has stood for five
 *   minutes, and a step back at once.
 * - Later a step back is believed once it has stood for five minutes, or another machine's clock has agreed with it for so long.
 *   It ends where the wall clock jumps past the ledger's time: the time then goes on from there at least.
 *
 * `last` is what the process before this one left; `null` where there was none.
 */
export function trustedClock(machine: MachineClock, last: ClockReading | null = null): TrustedClock {
  return new DoubtingClock(machine, last);
}

interface Claim {
  /** Wall time where the monotonic clock began, as the wall clock has it. */
  startMs: number;
  sinceMs: number;
  /** The machine had learnt the time when this was claimed. */
  needsConfirmation: boolean;
}

class DoubtingClock implements TrustedClock {
  readonly #machine: MachineClock;
  /** Wall time where the monotonic clock began. */
  #believedMs: number;
  /** The furthest that it ever was: a clock that comes back to it after a step back makes no new jump. */
  #furthestMs: number;
  /** The time that the machine had slept, by the difference of its uptime and its monotonic clock. */
  #sleptMs: number;
  /** By the monotonic clock. The uptime is read once a second at most, because each reading is a system call. */
  #sleepReadAtMs: number;
  #claim: Claim | null = null;
  #other: Pick<Claim, 'startMs' | 'sinceMs'> | null = null;
  #ledgerTimeMs: () => number = () => 0;
  /** By the monotonic clock. */
  readonly #provenAtMs: number;
  /** The machine was off, nobody knows for how long, so the time is only known to be no earlier. */
  #isLowerBound = false;

  constructor(machine: MachineClock, last: ClockReading | null) {
    this.#machine = machine;
    const monotonicMs = machine.monotonicMs();
    this.#sleptMs = machine.uptimeMs() - monotonicMs;
    this.#sleepReadAtMs = monotonicMs;
    this.#provenAtMs = monotonicMs + Math.max(0, CLOCK_PROVEN_MS - machine.uptimeMs());
    this.#believedMs = machine.now() - monotonicMs;
    this.#furthestMs = this.#believedMs;
    if (last !== null) this.#goOnFrom(last, monotonicMs);
  }

  monotonicMs(): number {
    return this.#machine.monotonicMs();
  }

  setTimer(...timer: Parameters<Clock['setTimer']>): ReturnType<Clock['setTimer']> {
    return this.#machine.setTimer(...timer);
  }

  now(): number {
    const wallMs = this.#machine.now();
    const monotonicMs = this.#machine.monotonicMs();
    const claimedMs = wallMs - monotonicMs;
    if (!isNear(claimedMs, this.#believedMs)) {
      this.#countSleep(monotonicMs);
      if (!isNear(claimedMs, this.#believedMs) && !this.#believes(claimedMs, wallMs, monotonicMs)) {
        return Math.floor(this.#believedMs + monotonicMs);
      }
    }
    // A short sleep looks like a small step, and must not be counted once more when a jump comes.
    if (claimedMs - this.#believedMs >= SECOND_MS || monotonicMs - this.#sleepReadAtMs >= SECOND_MS) {
      this.#countSleep(monotonicMs);
    }
    this.#claim = null;
    this.#isLowerBound = false;
    // Followed all the time, so that small corrections never add up to a jump.
    this.#believedMs = claimedMs;
    if (claimedMs > this.#furthestMs) this.#furthestMs = claimedMs;
    return wallMs;
  }

  doubt(): ClockDoubt | null {
    this.now();
    if (this.#claim === null) return null;
    const aheadMs = this.#claim.startMs - this.#believedMs;
    return aheadMs > 0 ? { aheadMs, needsConfirmation: this.#claim.needsConfirmation } : null;
  }

  believedInMs(): number | null {
    this.now();
    if (this.#claim === null) return null;
    const { startMs, sinceMs, needsConfirmation } = this.#claim;
    const monotonicMs = this.#machine.monotonicMs();
    const standsByItself = startMs < this.#believedMs || !needsConfirmation;
    const sinces = standsByItself ? [sinceMs] : [];
    if (this.#otherAgrees(startMs) && this.#other !== null) sinces.push(this.#other.sinceMs);
    if (sinces.length === 0) return null;
    return Math.max(0, Math.min(...sinces) + CLOCK_PROVEN_MS - monotonicMs);
  }

  accept(): boolean {
    if (this.doubt() === null || this.#claim === null) return false;
    this.#believedMs = this.#claim.startMs;
    this.#furthestMs = Math.max(this.#furthestMs, this.#believedMs);
    this.#isLowerBound = false;
    this.#claim = null;
    return true;
  }

  followLedger(timeMs: () => number): void {
    this.#ledgerTimeMs = timeMs;
  }

  noteOther(otherMs: number): void {
    const monotonicMs = this.#machine.monotonicMs();
    this.#countSleep(monotonicMs);
    const startMs = otherMs - monotonicMs;
    const isSteady = this.#other !== null && Math.abs(startMs - this.#other.startMs) <= CLOCK_JUMP_MIN_MS;
    this.#other = { startMs, sinceMs: isSteady && this.#other ? this.#other.sinceMs : monotonicMs };
  }

  reading(): ClockReading {
    const atMs = this.now();
    return {
      bootId: this.#machine.bootId,
      uptimeMs: Math.floor(this.#machine.uptimeMs()),
      atMs,
      doubtedAheadMs: Math.round(this.doubt()?.aheadMs ?? 0),
      furthestAheadMs: Math.max(0, Math.round(this.#furthestMs - this.#believedMs)),
      isProven: this.#isProven(),
    };
  }

  /** A machine that has been up for so long has learnt the time. */
  #isProven(): boolean {
    return !this.#isLowerBound && this.#machine.monotonicMs() >= this.#provenAtMs;
  }

  /** The time begins with what the wall clock should say by the reading that the process before this one left. */
  #goOnFrom(last: ClockReading, monotonicMs: number): void {
    const { bootId } = this.#machine;
    const uptimeMs = this.#machine.uptimeMs();
    const isSameBoot = bootId !== null && bootId === last.bootId && uptimeMs >= last.uptimeMs;
    // A machine that was off has been up for this long since; nobody knows for how long it was off.
    const expectedMs = last.atMs + (isSameBoot ? uptimeMs - last.uptimeMs : uptimeMs);
    const aheadMs = this.#machine.now() - expectedMs;
    if (aheadMs < 0 && !isSameBoot) return;
    const isSecondStart =
      last.doubtedAheadMs > 0 && Math.abs(aheadMs - last.doubtedAheadMs) <= CLOCK_JUMP_MIN_MS;
    const hasLearntSince = this.#isProven() && !(isSameBoot && last.isProven);
    if (isSecondStart || hasLearntSince) return;
    this.#believedMs = expectedMs - monotonicMs;
    this.#furthestMs = this.#believedMs + last.furthestAheadMs;
    this.#isLowerBound = !isSameBoot;
  }

  /** Whether a wall clock that is far from the time that has gone by is right all the same. */
  #believes(claimedMs: number, wallMs: number, monotonicMs: number): boolean {
    if (this.#claim === null || !isNear(claimedMs, this.#claim.startMs)) {
      this.#claim = { startMs: claimedMs, sinceMs: monotonicMs, needsConfirmation: this.#isProven() };
    }
    const hasStood = monotonicMs - this.#claim.sinceMs >= CLOCK_PROVEN_MS;
    if (claimedMs < this.#believedMs) {
      return hasStood || !this.#claim.needsConfirmation || this.#isConfirmed(claimedMs, monotonicMs);
    }
    if (claimedMs <= this.#furthestMs + CLOCK_JUMP_MIN_MS) return true;
    const ledgerMs = this.#ledgerTimeMs();
    if (wallMs <= ledgerMs + CLOCK_JUMP_MIN_MS) return true;
    if (this.#isConfirmed(claimedMs, monotonicMs) || (hasStood && !this.#claim.needsConfirmation))
      return true;
    // A step back that was believed is over. The ledger is there already, so this much of the jump can do no harm.
    this.#believedMs = Math.max(this.#believedMs, ledgerMs - monotonicMs);
    return false;
  }

  /** A clock that has just made the same jump is no witness of it. */
  #isConfirmed(claimedMs: number, monotonicMs: number): boolean {
    if (this.#other === null || monotonicMs - this.#other.sinceMs < CLOCK_PROVEN_MS) return false;
    return this.#otherAgrees(claimedMs);
  }

  #otherAgrees(claimedMs: number): boolean {
    return this.#other !== null && Math.abs(this.#other.startMs - claimedMs) <= CLOCK_JUMP_MIN_MS;
  }

  /** The monotonic clock stands still while the machine sleeps, and the wall clock does not. */
  #countSleep(monotonicMs: number): void {
    const sleptMs = this.#machine.uptimeMs() - monotonicMs;
    const moreMs = sleptMs - this.#sleptMs;
    this.#sleepReadAtMs = monotonicMs;
    // Both are read one after the other, and the uptime is told in hundredths of a second.
    if (moreMs < SECOND_MS) return;
    this.#sleptMs = sleptMs;
    this.#believedMs += moreMs;
    this.#furthestMs += moreMs;
    if (this.#other !== null) this.#other.startMs += moreMs;
  }
}

/** A step back of up to five minutes ends no running call, and makes no time that the ledger would have to wait for. */
const isNear = (claimedMs: number, believedMs: number): boolean =>
  claimedMs - believedMs <= CLOCK_JUMP_MIN_MS && believedMs - claimedMs <= CLOCK_APART_MAX_MS;
