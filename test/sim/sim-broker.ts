import type { LedgerLog, LogTail, OnRecord, StoredRecord } from '#core/ledger/cluster/ledger-log.ts';
import type { Draw } from '../ledger/history/random.ts';
import type { SimProcess } from './sim-process.ts';
import type { VirtualTime } from './virtual-time.ts';

const REQUEST_TIMEOUT_MS = 5_000;
/** While it cannot be reached, a reader looks again so often. */
const AGAIN_MS = 200;

/** What may become of one append, in parts of a thousand; what is left is stored once and acknowledged. */
export interface AppendFates {
  twice: number;
  ackLost: number;
  lost: number;
  /** Stored up to ten seconds later, long after its producer was told that nobody knows. */
  late: number;
}

interface Tail {
  process: SimProcess;
  next: Map<number, bigint>;
  onRecord: OnRecord;
  stopped: boolean;
  /** Shards of which a delivery is under way. */
  coming: Set<number>;
}

export interface BrokerOptions {
  time: VirtualTime;
  draw: Draw;
  shards: number;
  fates: () => AppendFates;
  count: (what: string) => void;
  onStored: (shard: number, record: StoredRecord) => void;
  /** After an append was answered: a moment to die. */
  onAppended: (process: SimProcess) => void;
}

/** The log as a cluster of brokers: what it has stored stays; who asks may never be told. */
export class SimBroker {
  readonly #options: BrokerOptions;
  readonly #partitions: StoredRecord[][];
  readonly #starts: number[];
  readonly #up: boolean[];
  readonly #tails = new Set<Tail>();
  /** Of every request, while it is busy. */
  slowMs = 0;

  constructor(options: BrokerOptions) {
    this.#options = options;
    this.#partitions = Array.from({ length: options.shards }, () => []);
    this.#starts = this.#partitions.map(() => 0);
    this.#up = this.#partitions.map(() => true);
  }

  setUp(shard: number, up: boolean): void {
    this.#up[shard] = up;
    if (up) for (const tail of this.#tails) this.#feed(tail, shard);
  }

  isUp(shard: number): boolean {
    return this.#up[shard] ?? false;
  }

  records(shard: number): readonly StoredRecord[] {
    return this.#partitions[shard] ?? [];
  }

  /** Records before this offset are gone. */
  trim(shard: number, offset: bigint): void {
    this.#starts[shard] = Math.max(this.#starts[shard] ?? 0, Number(offset));
  }

  /** The log as one process has it. */
  logOf(process: SimProcess): LedgerLog {
    return {
      append: (shard, texts) => this.#append(process, shard, texts),
      ends: () => this.#ends(process),
      readToEnd: (from, onRecord) => this.#readToEnd(process, from, onRecord),
      tail: (from, onRecord) => this.#tail(process, from, onRecord),
      close: async () => {},
    };
  }

  #append(process: SimProcess, shard: number, texts: readonly string[]): Promise<void> {
    const { time, draw, fates, count, onAppended } = this.#options;
    const fate = drawFate(draw, fates());
    return new Promise((resolve, reject) => {
      let waiting = true;
      const answer = (afterMs: number, give: () => void): void => {
        time.after(afterMs, () =>
          process.receive(() => {
            if (!waiting) return;
            waiting = false;
            timeout.cancel();
            give();
            onAppended(process);
          }),
        );
      };
      const fail = () => reject(new Error('no answer from the log'));
      const timeout = process.clock.setTimer(REQUEST_TIMEOUT_MS, () => {
        if (!waiting) return;
        waiting = false;
        fail();
      });
      const arrive = () => {
        if (!this.isUp(shard)) {
          count('append to a log that is down');
          return answer(1 + draw(3) * draw(500), fail);
        }
        if (fate !== 'stored') count(`append ${fate}`);
        if (fate === 'lost') return answer(draw(2_000), fail);
        if (fate === 'late') {
          time.after(draw(4) === 0 ? draw(60_000) : draw(3_000), () => this.#storeLate(shard, texts));
          return answer(draw(1_000), fail);
        }
        this.#store(shard, texts);
        if (fate === 'twice') this.#store(shard, texts);
        if (fate === 'ackLost') return answer(draw(2) === 0 ? draw(50) : draw(2 * REQUEST_TIMEOUT_MS), fail);
        answer(1 + draw(3), resolve);
      };
      time.after(1 + draw(3) + (this.slowMs === 0 ? 0 : draw(this.slowMs)), arrive);
    });
  }

  /** A request that has waited in some buffer lands on a leader that is up, or never. */
  #storeLate(shard: number, texts: readonly string[]): void {
    if (this.isUp(shard)) this.#store(shard, texts);
  }

  #store(shard: number, texts: readonly string[]): void {
    const partition = this.#partitions[shard] ?? [];
    for (const text of texts) {
      const record: StoredRecord = {
        offset: BigInt(partition.length),
        appendedAtMs: this.#options.time.nowMs,
        bytes: Buffer.from(text),
      };
      partition.push(record);
      this.#options.onStored(shard, record);
    }
    for (const tail of this.#tails) this.#feed(tail, shard);
  }

  #ends(process: SimProcess): Promise<Map<number, bigint>> {
    return new Promise((resolve, reject) => {
      this.#options.time.after(1 + this.#options.draw(3), () =>
        process.receive(() => {
          if (!this.#up.every(Boolean)) reject(new Error('the log is down'));
          else resolve(new Map(this.#partitions.map((records, shard) => [shard, BigInt(records.length)])));
        }),
      );
    });
  }

  /** As far as it goes at the call, in portions; waits where the log is away. */
  #readToEnd(process: SimProcess, from: ReadonlyMap<number, bigint>, onRecord: OnRecord): Promise<void> {
    const { time, draw } = this.#options;
    const left = Array.from(from, ([shard, offset]) => ({
      shard,
      next: Math.max(Number(offset), this.#starts[shard] ?? 0),
      end: this.records(shard).length,
    }));
    return new Promise((resolve) => {
      const read = (): void => {
        const one = left.find(({ next, end }) => next < end);
        if (one === undefined) {
          resolve();
          return;
        }
        if (!this.isUp(one.shard)) {
          again(AGAIN_MS);
          return;
        }
        const portion = 1 + draw(200);
        for (const record of this.records(one.shard).slice(one.next, Math.min(one.end, one.next + portion))) {
          onRecord(one.shard, record);
        }
        one.next += portion;
        again(1 + draw(3));
      };
      const again = (ms: number) => void time.after(ms, () => process.receive(read));
      again(1 + draw(5));
    });
  }

  async #tail(process: SimProcess, from: ReadonlyMap<number, bigint>, onRecord: OnRecord): Promise<LogTail> {
    const tail: Tail = { process, next: new Map(from), onRecord, stopped: false, coming: new Set() };
    this.#tails.add(tail);
    for (const shard of from.keys()) this.#feed(tail, shard);
    return {
      stop: async () => {
        tail.stopped = true;
        this.#tails.delete(tail);
      },
    };
  }

  #feed(tail: Tail, shard: number): void {
    const { time, draw } = this.#options;
    if (tail.coming.has(shard) || !this.isUp(shard)) return;
    if (Number(tail.next.get(shard) ?? 0n) >= this.records(shard).length) return;
    tail.coming.add(shard);
    const waitMs = 1 + draw(draw(20) === 0 ? 100 : 6) + (this.slowMs === 0 ? 0 : draw(this.slowMs));
    time.after(waitMs, () => {
      if (!tail.process.alive) this.#tails.delete(tail);
      tail.process.receive(() => {
        tail.coming.delete(shard);
        if (tail.stopped) return;
        if (this.isUp(shard)) this.#deliver(tail, shard);
        this.#feed(tail, shard);
      });
    });
  }

  #deliver(tail: Tail, shard: number): void {
    const next = Math.max(Number(tail.next.get(shard) ?? 0n), this.#starts[shard] ?? 0);
    for (const record of this.records(shard).slice(next)) {
      tail.next.set(shard, record.offset + 1n);
      tail.onRecord(shard, record);
    }
  }
}

function drawFate(draw: Draw, fates: AppendFates): 'stored' | keyof AppendFates {
  let at = draw(1_000);
  for (const fate of ['twice', 'ackLost', 'lost', 'late'] as const) {
    at -= fates[fate];
    if (at < 0) return fate;
  }
  return 'stored';
}
