import { type Clock, SECOND_MS, type Timer } from '../../clock.ts';
import type { LedgerEvent } from '../../events/ledger-event.ts';
import { PUBLISHER_LEASE_MS } from '../../limits.ts';
import type { Log } from '../../log.ts';
import type { AgentStates } from './agent-states.ts';
import { followStored, type LogPosition, PoisonRecordError } from './effective-log.ts';
import { inAppends } from './in-appends.ts';
import type { LedgerLog, StoredRecord } from './ledger-log.ts';
import { eventRecordText, HEARTBEAT_TEXT } from './log-record.ts';
import type { ShardKeys } from './redis-keys.ts';
import type { RedisScripts } from './redis-scripts.ts';
import { type Recovered, recoverShard } from './shard-recovery.ts';

/** A partition without events gets a heartbeat after this long, so that the log's own time moves on. */
export const LOG_HEARTBEAT_MS = 30 * SECOND_MS;
/** A publisher whose log does not answer leaves its shards to others for this long. */
const PUBLISHER_YIELD_MS = SECOND_MS;

export interface ShardPublisherOptions {
  shard: number;
  keys: ShardKeys;
  scripts: RedisScripts;
  log: LedgerLog;
  states: AgentStates;
  clock: Clock;
  logger: Log;
  /** Of the process. */
  recoverer: string;
  /** From which offset on the tail brings the shard's records. */
  tailFrom: bigint;
  /** Of what has come to count while this process leads the shard. */
  onEvent?: ((event: LedgerEvent) => void) | undefined;
  /** Called when the shard is open again, rebuilt or unchanged. The process may have missed events until then. */
  onOpen?: ((shard: number) => void) | undefined;
}

const EVENTS_AT_ONCE = 500;
/** After a failure of Redis or of the log, and while somebody else is at work on the shard. */
const RETRY_MS = 100;
/** A record that was acknowledged and is not read back by then is sent again: it counts once all the same. */
const RESEND_MS = SECOND_MS;
/** A tail that brings back nothing of what was sent again may be blind, where another process's is not. */
const RESENDS_MAX = 2;
const LEASE_RENEW_MS = PUBLISHER_LEASE_MS / 3;

/**
 * Takes one shard's events from its outbox to the log, in order; reads them back, and only then says that the log has
 * them. Rebuilds the shard when its fence does not fit the node. Of several processes one leads, for economy: two at once
 * are safe, because what they send twice counts once.
 */
export class ShardPublisher {
  readonly #options: ShardPublisherOptions;
  /** `null`: not known to be open on this node. */
  #position: LogPosition | null = null;
  #nextOffset = 0n;
  #sentSeq = 0;
  #ackedSeq = 0;
  #sentAtMs = 0;
  #resends = 0;
  #leads = false;
  #isReported = false;
  #renewAtMs = 0;
  /** Another process's turn, or its chance. */
  #followsUntilMs = 0;
  #yieldsUntilMs = 0;
  #logTimeMs = 0;
  #heardAtMs: number;
  /** A newer epoch than the node's stands in the log: nothing else is done before its fence is gone. */
  #fenceBelow: number | null = null;
  /** What the tail brings next, and what it brought while the shard was being rebuilt. */
  #tailNext: bigint;
  #waiting: StoredRecord[] = [];
  #working = false;
  #wanted = false;
  #stopped = false;
  #isPoisoned = false;
  #timer: Timer | null = null;
  #resendTimer: Timer | null = null;

  constructor(options: ShardPublisherOptions) {
    this.#options = options;
    this.#tailNext = options.tailFrom;
    this.#heardAtMs = options.clock.monotonicMs();
  }

  get isOpen(): boolean {
    return this.#position !== null;
  }

  get isLeading(): boolean {
    return this.#leads;
  }

  /** For good: its log holds what nobody can read. */
  get isPoisoned(): boolean {
    return this.#isPoisoned;
  }

  /** By the log's own clock; 0 before a record has come. */
  get logTimeMs(): number {
    return this.#logTimeMs;
  }

  /** Whoever led the shard has just left it. */
  takeOver(): void {
    const { clock } = this.#options;
    if (this.#leads || this.#stopped || clock.monotonicMs() < this.#yieldsUntilMs) return;
    this.#followsUntilMs = 0;
    this.#timer?.cancel();
    this.#timer = null;
    this.wake();
  }

  /** Something may be in the outbox. After a failure it waits for its turn all the same. */
  wake(): void {
    if (this.#stopped) return;
    this.#wanted = true;
    if (!this.#working && this.#timer === null) void this.#work();
  }

  /** Resolves once others know that the shard is free. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#resendTimer?.cancel();
    if (this.#leads) await this.#handOver();
  }

  /** The next record of the shard's partition, from the tail. Never throws: the tail serves other shards, too. */
  onRecord(record: StoredRecord): void {
    if (this.#stopped) return;
    this.#tailNext = record.offset + 1n;
    this.#logTimeMs = Math.max(this.#logTimeMs, record.appendedAtMs);
    this.#heardAtMs = this.#options.clock.monotonicMs();
    if (!this.#leads) return;
    if (this.#position === null) this.#waiting.push(record);
    else {
      try {
        // The tail has lost something: the shard is entered anew, and what is missing is read.
        if (!this.#follow(this.#position, record)) this.#position = null;
      } catch (error) {
        this.#stopPoisoned(error);
      }
    }
    this.wake();
  }

  async #work(): Promise<void> {
    this.#working = true;
    // The other records of the same answer come in the same turn: they are acknowledged together.
    await null;
    while (this.#wanted && !this.#stopped) {
      this.#wanted = false;
      try {
        const next = await this.#step();
        this.#isReported = false;
        if (next === 'again') this.#wanted = true;
        else if (next !== 'done') this.#wakeIn(next);
      } catch (error) {
        if (error instanceof PoisonRecordError) this.#stopPoisoned(error);
        else {
          this.#tell(error);
          this.#sentSeq = this.#ackedSeq;
          this.#wakeIn(await this.#yield());
          break;
        }
      }
    }
    this.#working = false;
  }

  /** Once an outage: each shard would else fill the log with it. */
  #tell(error: unknown): void {
    if (this.#isReported) return;
    this.#isReported = true;
    const { shard, logger } = this.#options;
    logger.error('a shard could not be published, it is tried again', { shard, error });
  }

  /** One timer at a time: a chain of retries for each failure would grow without bound. */
  #wakeIn(waitMs: number): void {
    if (this.#stopped) return;
    this.#timer?.cancel();
    this.#timer = this.#options.clock.setTimer(waitMs, () => {
      this.#timer = null;
      this.wake();
    });
  }

  /** Milliseconds: to be done again then, and not before. */
  async #step(): Promise<'again' | 'done' | number> {
    const { keys, scripts, log, shard, clock } = this.#options;
    if (this.#fenceBelow !== null) {
      await scripts.run('fence', [keys.meta], [this.#fenceBelow]);
      this.#fenceBelow = null;
    }
    const waitMs = await this.#lead();
    if (waitMs > 0) return waitMs;
    if (this.#position === null) return await this.#enter();
    const isUnread = this.#sentSeq > Math.max(this.#ackedSeq, this.#position.seq);
    const overdue = isUnread && clock.monotonicMs() - this.#sentAtMs > RESEND_MS;
    if (overdue) {
      if (++this.#resends > RESENDS_MAX) return await this.#yield();
      this.#sentSeq = this.#ackedSeq;
    }
    const { epoch, seq } = this.#position;
    const read = [epoch, seq, String(this.#nextOffset)];
    const reply = await scripts.run(
      'ack',
      [keys.meta, keys.outbox],
      [...read, this.#sentSeq, EVENTS_AT_ONCE],
    );
    if (this.#isLost(reply[0]) || this.#position === null) return 'again';
    if (Number(reply[1]) > epoch) return RETRY_MS;
    if (Number(reply[1]) < epoch) {
      this.#loseShard(epoch);
      return 'again';
    }
    if (seq > this.#ackedSeq) {
      this.#ackedSeq = seq;
      this.#resends = 0;
    }
    const events = Array.isArray(reply[2]) ? reply[2].map(String) : [];
    if (events.length === 0) return this.#sentSeq > this.#ackedSeq ? this.#resendIn() : await this.#beat();
    const texts: string[] = [];
    let lastSeq = this.#sentSeq;
    for (let i = 0; i < events.length; i += 2) {
      lastSeq = Number(events[i]);
      texts.push(eventRecordText(epoch, lastSeq, events[i + 1] ?? ''));
    }
    for (const some of inAppends(texts)) await log.append(shard, some);
    this.#sentSeq = Math.max(this.#sentSeq, lastSeq);
    this.#sentAtMs = clock.monotonicMs();
    // What has come meanwhile is answered with the acknowledgement of these, in one step.
    return this.#resendIn();
  }

  /** Milliseconds, where another process leads the shard: to be looked at again then. */
  async #lead(): Promise<number> {
    const { keys, scripts, clock, recoverer } = this.#options;
    const nowMs = clock.monotonicMs();
    const othersUntilMs = Math.max(this.#followsUntilMs, this.#yieldsUntilMs);
    if (nowMs < othersUntilMs) return othersUntilMs - nowMs;
    if (this.#leads && nowMs < this.#renewAtMs) return 0;
    const [word] = await scripts.run('lease', [keys.meta], [recoverer, PUBLISHER_LEASE_MS]);
    if (word === 'OK') {
      this.#leads = true;
      this.#renewAtMs = nowMs + LEASE_RENEW_MS;
      return 0;
    }
    this.#follows();
    this.#followsUntilMs = nowMs + LEASE_RENEW_MS;
    return LEASE_RENEW_MS;
  }

  /** Where it is the log that failed, perhaps only for this process, others get their chance. */
  async #yield(): Promise<number> {
    if (!(await this.#handOver())) return RETRY_MS;
    this.#yieldsUntilMs = this.#options.clock.monotonicMs() + PUBLISHER_YIELD_MS;
    return PUBLISHER_YIELD_MS;
  }

  /** False: the shard's node does not answer, so that nobody else can have it either. */
  async #handOver(): Promise<boolean> {
    const { keys, scripts, recoverer } = this.#options;
    try {
      await scripts.run('lease', [keys.meta], [recoverer, 0]);
    } catch {
      // A lease that could not be renewed is over: whoever can reach the node has it, and what the tail brings is theirs.
      if (this.#options.clock.monotonicMs() >= this.#renewAtMs - LEASE_RENEW_MS + PUBLISHER_LEASE_MS)
        this.#follows();
      return false;
    }
    this.#follows();
    return true;
  }

  #follows(): void {
    this.#leads = false;
    this.#position = null;
    this.#waiting = [];
    this.#resends = 0;
  }

  /** The log's own clock is seen only in its records. */
  async #beat(): Promise<'done'> {
    const { log, shard, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#heardAtMs < LOG_HEARTBEAT_MS) return 'done';
    this.#heardAtMs = nowMs;
    await log.append(shard, [HEARTBEAT_TEXT]);
    return 'done';
  }

  /** What is read back meanwhile wakes it at once. */
  #resendIn(): 'done' {
    const { clock } = this.#options;
    this.#resendTimer?.cancel();
    this.#resendTimer = clock.setTimer(RESEND_MS, () => this.wake());
    return 'done';
  }

  /** The shard as it stands on this node, or rebuilt there. */
  async #enter(): Promise<'again' | number> {
    const { keys, scripts, log, shard } = this.#options;
    const [word, epoch, acked, offset, nonce] = await scripts.run('position', [keys.meta, keys.outbox], []);
    const entered: Recovered | null =
      word === 'OK'
        ? {
            position: { epoch: Number(epoch), seq: Number(acked), nonce: String(nonce) },
            offset: BigInt(String(offset)),
          }
        : await recoverShard(this.#options);
    // Somebody else is at it.
    if (entered === null) return RETRY_MS;
    const position = entered.position;
    this.#nextOffset = entered.offset;
    this.#sentSeq = this.#ackedSeq = position.seq;
    // The tail may be past what was acknowledged: what lies between may hold the mark of a newer epoch.
    if (entered.offset < (this.#waiting[0]?.offset ?? this.#tailNext)) {
      const missed: StoredRecord[] = [];
      await log.readToEnd(new Map([[shard, entered.offset]]), (_, record) => void missed.push(record));
      // The log was trimmed past what this node last heard of it, as after weeks without an event: it is rebuilt.
      if (missed[0]?.offset !== entered.offset) {
        this.#fenceBelow = position.epoch + 1;
        return 'again';
      }
      if (!missed.every((record) => this.#follow(position, record))) return RETRY_MS;
    }
    // Whatever came in the meantime, and nothing between this and the shard's being open.
    if (!this.#waiting.splice(0).every((record) => this.#follow(position, record))) return RETRY_MS;
    if (this.#fenceBelow !== null) return 'again';
    this.#position = position;
    this.#options.onOpen?.(shard);
    return 'again';
  }

  /** False: some records before this one have never come. */
  #follow(position: LogPosition, record: StoredRecord): boolean {
    if (record.offset < this.#nextOffset) return true;
    if (record.offset > this.#nextOffset) return false;
    const { epoch } = position;
    const event = followStored(position, record);
    this.#nextOffset = record.offset + 1n;
    if (event !== null) this.#options.onEvent?.(event);
    // Somebody began a newer epoch: what this node decides from here on would never count.
    if (position.epoch > epoch) this.#loseShard(position.epoch);
    return true;
  }

  #loseShard(epoch: number): void {
    this.#position = null;
    this.#fenceBelow = epoch;
  }

  #isLost(word: string): boolean {
    if (word !== 'FENCED') return false;
    this.#position = null;
    return true;
  }

  /**
   * Nothing is skipped: the shard starts no calls any more, because nobody takes its events to the log. Said once, though
   * both the tail and a step that was under way come upon the record.
   */
  #stopPoisoned(error: unknown): void {
    if (this.#isPoisoned) return;
    void this.stop();
    this.#position = null;
    this.#isPoisoned = true;
    this.#options.logger.error('a shard is stopped, because its log cannot be followed', { error });
  }
}
