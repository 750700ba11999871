import { type Clock, SECOND_MS } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { followStored, type LogPosition, PoisonRecordError } from './effective-log.ts';
import type { LedgerLog, StoredRecord } from './ledger-log.ts';
import { eventRecordText } from './log-record.ts';
import type { ShardKeys } from './redis-keys.ts';
import type { RedisScripts } from './redis-scripts.ts';
import { type Recovered, recoverShard } from './shard-recovery.ts';

export interface ShardPublisherOptions {
  shard: number;
  keys: ShardKeys;
  scripts: RedisScripts;
  log: LedgerLog;
  clock: Clock;
  logger: Log;
  /** Of the process. */
  recoverer: string;
}

const EVENTS_AT_ONCE = 500;
/** After a failure of Redis or of the log. */
const RETRY_MS = 100;
/** A record that was acknowledged and is not read back by then is sent again: it counts once all the same. */
const RESEND_MS = SECOND_MS;

/**
 * Takes one shard's events from its outbox to the log, in order; reads them back, and only then says that the log has
 * them. Rebuilds the shard when its fence does not fit the node. Two at once for one shard are safe: what they send
 * twice counts once.
 */
export class ShardPublisher {
  readonly #options: ShardPublisherOptions;
  /** `null`: not known to be open on this node. */
  #position: LogPosition | null = null;
  #nextOffset = 0n;
  #sentSeq = 0;
  #ackedSeq = 0;
  #sentAtMs = 0;
  #working = false;
  #wanted = false;
  #stopped = false;
  /** Records that the tail brought while the shard was being rebuilt. */
  #waiting: StoredRecord[] = [];

  constructor(options: ShardPublisherOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#position !== null;
  }

  /** Something may be in the outbox. */
  wake(): void {
    this.#wanted = true;
    if (!this.#working && !this.#stopped) void this.#work();
  }

  stop(): void {
    this.#stopped = true;
  }

  /** The next record of the shard's partition, from the tail. */
  onRecord(record: StoredRecord): void {
    if (this.#stopped) return;
    if (this.#position === null) this.#waiting.push(record);
    else {
      try {
        this.#follow(this.#position, record);
      } catch (error) {
        this.#stopPoisoned(error);
      }
    }
    this.wake();
  }

  async #work(): Promise<void> {
    this.#working = true;
    while (this.#wanted && !this.#stopped) {
      this.#wanted = false;
      try {
        if (await this.#step()) this.#wanted = true;
      } catch (error) {
        if (error instanceof PoisonRecordError) return this.#stopPoisoned(error);
        this.#options.logger.error('a shard could not be published, it is tried again', { error });
        this.#sentSeq = this.#ackedSeq;
        this.#options.clock.setTimer(RETRY_MS, () => this.wake());
        break;
      }
    }
    this.#working = false;
    if (this.#wanted && !this.#stopped) this.wake();
  }

  /** True: there is more to do at once. */
  async #step(): Promise<boolean> {
    if (this.#position === null) return await this.#enter();
    const { keys, scripts, log, shard, clock } = this.#options;
    if (this.#position.seq > this.#ackedSeq) await this.#acknowledge(this.#position);
    const overdue = this.#sentSeq > this.#ackedSeq && clock.monotonicMs() - this.#sentAtMs > RESEND_MS;
    if (overdue) this.#sentSeq = this.#ackedSeq;
    const reply = await scripts.run('outbox', [keys.meta, keys.outbox], [this.#sentSeq, EVENTS_AT_ONCE]);
    if (this.#isLost(reply[0]) || Number(reply[1]) !== this.#position?.epoch) return true;
    const events = Array.isArray(reply[2]) ? reply[2].map(String) : [];
    if (events.length === 0) {
      if (this.#sentSeq > this.#ackedSeq) clock.setTimer(RESEND_MS, () => this.wake());
      return false;
    }
    const texts: string[] = [];
    let lastSeq = this.#sentSeq;
    for (let i = 0; i < events.length; i += 2) {
      lastSeq = Number(events[i]);
      texts.push(eventRecordText(this.#position.epoch, lastSeq, events[i + 1] ?? ''));
    }
    await log.append(shard, texts);
    this.#sentSeq = Math.max(this.#sentSeq, lastSeq);
    this.#sentAtMs = clock.monotonicMs();
    return true;
  }

  async #acknowledge({ epoch, seq }: LogPosition): Promise<void> {
    const { keys, scripts } = this.#options;
    const offset = String(this.#nextOffset);
    const [word] = await scripts.run('ack', [keys.meta, keys.outbox], [epoch, seq, offset]);
    if (!this.#isLost(word)) this.#ackedSeq = seq;
  }

  /** The shard as it stands on this node, or rebuilt there. */
  async #enter(): Promise<boolean> {
    const { keys, scripts } = this.#options;
    const [word, epoch, acked, offset, nonce] = await scripts.run('position', [keys.meta, keys.outbox], []);
    const entered: Recovered | null =
      word === 'OK'
        ? {
            position: { epoch: Number(epoch), seq: Number(acked), nonce: String(nonce) },
            offset: BigInt(String(offset)),
          }
        : await recoverShard(this.#options);
    if (entered === null) {
      // Somebody else is at it: look again when it should be done.
      this.#options.clock.setTimer(RETRY_MS, () => this.wake());
      return false;
    }
    this.#position = entered.position;
    this.#nextOffset = entered.offset;
    this.#sentSeq = this.#ackedSeq = entered.position.seq;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const record of waiting) if (this.#position !== null) this.#follow(this.#position, record);
    return true;
  }

  /** Nothing is skipped: the shard starts no calls any more, because nobody takes its events to the log. */
  #stopPoisoned(error: unknown): void {
    this.#stopped = true;
    this.#position = null;
    this.#options.logger.error('a shard is stopped, because its log cannot be followed', { error });
  }

  #follow(position: LogPosition, record: StoredRecord): void {
    if (record.offset < this.#nextOffset) return;
    const epoch = position.epoch;
    followStored(position, record);
    this.#nextOffset = record.offset + 1n;
    // Somebody began a newer epoch: what this node decides from here on would never count.
    if (position.epoch > epoch) void this.#fence(position.epoch);
  }

  async #fence(epoch: number): Promise<void> {
    this.#position = null;
    await this.#options.scripts.run('fence', [this.#options.keys.meta], [epoch]);
    this.wake();
  }

  #isLost(word: string): boolean {
    if (word !== 'FENCED') return false;
    this.#position = null;
    return true;
  }
}
