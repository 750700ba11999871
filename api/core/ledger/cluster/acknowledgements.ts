import { type Clock, SECOND_MS, type Timer } from '../../clock.ts';
import { GATE_TIMEOUT_MS } from '../../limits.ts';
import type { Durability } from '../ledger.ts';
import { parsePlace } from './place.ts';

/** A lost message costs at most this long: then the shard is asked. */
const ASK_MS = SECOND_MS / 10;

export interface AcknowledgementsOptions {
  clock: Clock;
  /** How long a decision may wait for the log; missing: `GATE_TIMEOUT_MS`. */
  gateTimeoutMs?: number | undefined;
  /** Asks a shard how far its log is; `null`: it cannot be asked now. */
  ask: (shard: number) => Promise<string | null>;
}

interface Waiter {
  seq: number;
  sinceMs: number;
  resolve: (durability: Durability) => void;
}

interface Waiting {
  epoch: number;
  ackedSeq: number;
  /** By seq, because decisions come in order. */
  waiters: Waiter[];
}

/** Who waits for the log: each is told when its event, or any later one of its shard, is known to be there. */
export class Acknowledgements {
  readonly #options: AcknowledgementsOptions;
  readonly #shards = new Map<number, Waiting>();
  #timer: Timer | null = null;

  constructor(options: AcknowledgementsOptions) {
    this.#options = options;
  }

  /** How many wait. */
  get waiting(): number {
    let waiting = 0;
    for (const { waiters } of this.#shards.values()) waiting += waiters.length;
    return waiting;
  }

  /** `unknown` after two seconds, or when the shard has begun a newer epoch meanwhile. */
  wait(shard: number, place: string): Promise<Durability> {
    const { epoch, seq } = parsePlace(place);
    // Where nothing has been heard of the shard, the message may have come before this process did.
    if (!this.#shards.has(shard)) void this.#ask(shard);
    const known = this.#at(shard, epoch);
    if (known.epoch > epoch) return Promise.resolve('unknown');
    if (known.ackedSeq >= seq) return Promise.resolve('durable');
    return new Promise((resolve) => {
      known.waiters.push({ seq, sinceMs: this.#options.clock.monotonicMs(), resolve });
      this.#timer ??= this.#options.clock.setTimer(ASK_MS, this.#look);
    });
  }

  /** The log has the shard's events up to this place. */
  note(shard: number, place: string): void {
    const { epoch, seq } = parsePlace(place);
    const known = this.#at(shard, epoch);
    if (known.epoch > epoch || known.ackedSeq >= seq) return;
    known.ackedSeq = seq;
    const told = known.waiters.filter((waiter) => waiter.seq <= seq);
    known.waiters = known.waiters.filter((waiter) => waiter.seq > seq);
    for (const { resolve } of told) resolve('durable');
  }

  #at(shard: number, epoch: number): Waiting {
    const known = this.#shards.get(shard);
    if (known !== undefined && known.epoch >= epoch) return known;
    // What was decided in the older epoch may be void.
    for (const { resolve } of known?.waiters ?? []) resolve('unknown');
    const fresh: Waiting = { epoch, ackedSeq: 0, waiters: [] };
    this.#shards.set(shard, fresh);
    return fresh;
  }

  readonly #look = (): void => {
    const { clock, gateTimeoutMs = GATE_TIMEOUT_MS } = this.#options;
    const nowMs = clock.monotonicMs();
    let waiting = false;
    for (const [shard, known] of this.#shards) {
      const first = known.waiters[0];
      if (first === undefined) continue;
      if (nowMs - first.sinceMs >= gateTimeoutMs) {
        const late = known.waiters.filter(({ sinceMs }) => nowMs - sinceMs >= gateTimeoutMs);
        known.waiters = known.waiters.filter(({ sinceMs }) => nowMs - sinceMs < gateTimeoutMs);
        for (const { resolve } of late) resolve('unknown');
      } else if (nowMs - first.sinceMs >= ASK_MS) void this.#ask(shard);
      waiting ||= known.waiters.length > 0;
    }
    this.#timer = waiting ? clock.setTimer(ASK_MS, this.#look) : null;
  };

  async #ask(shard: number): Promise<void> {
    const place = await this.#options.ask(shard).catch(() => null);
    if (place !== null) this.note(shard, place);
  }
}
