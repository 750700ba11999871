import type { FeedBatch } from '#core/events/feed-record.ts';
import { tradeRejections } from '#core/events/rejected-trade.ts';
import type { Command, ResultOf } from '#core/ledger/command.ts';
import type { Executed } from '#core/ledger/ledger.ts';
import type { Log } from '#core/log.ts';
import { CreditMover } from '../../workers/market/credit-mover.ts';
import { day, START_MS } from '../ledger/case.ts';
import { createDraw, type Draw, pick } from '../ledger/history/random.ts';
import { checkMoves } from './check-moves.ts';
import { AGENTS, type DrawnTrade, drawTrades, MARKET_DAYS } from './draw-trades.ts';
import { FaultyShard } from './faulty-shard.ts';

/** What happened, and how often. */
export type MoveCoverage = Map<string, number>;

const HISTORIES_AT_ONCE = 32;
const TRADES_MAX = 14;
const STEPS_MAX = 160;
/** Without faults any history is over long before. */
const HEALING_STEPS_MAX = 5_000;

/** Runs histories `seed`, `seed + 1`, …; rejects at the first broken promise, with its seed. */
export async function runMoveHistories(seed: number, count: number, coverage: MoveCoverage): Promise<void> {
  let next = seed;
  const runner = async () => {
    while (next < seed + count) await runMoveHistory(next++, coverage);
  };
  await Promise.all(Array.from({ length: HISTORIES_AT_ONCE }, runner));
}

export async function runMoveHistory(seed: number, coverage: MoveCoverage): Promise<void> {
  const history = new MoveHistory(createDraw(seed), coverage);
  try {
    await history.run();
    checkMoves(history);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`history ${seed} of moves (runMoveHistory(${seed}, new Map()) replays it): ${why}`, {
      cause,
    });
  }
}

/** A process that reads one partition. Nothing that it does once it is dead arrives anywhere. */
interface Reader {
  partition: number;
  mover: CreditMover;
  isAlive: boolean;
}

/** On its way from a process to the ledger or the rejections; `arrive` may answer, or not. */
interface Message {
  from: Reader;
  arrive: () => void;
}

const silent: Log = { info() {}, warn() {}, error() {} };

/**
 * Two partitions of trades over two shards. Every message arrives, every acknowledgement comes and every process dies at
 * a moment that is drawn; partitions go to new processes while the old ones still work on what they have begun.
 */
export class MoveHistory {
  readonly shards = [new FaultyShard(), new FaultyShard()] as const;
  readonly trades: readonly (readonly DrawnTrade[])[];
  readonly granted: { agentId: number; days: number; nanoUsd: bigint }[] = [];
  readonly rejected: { tradeId: string; seq: number; partition: number; reason: string }[] = [];
  readonly deadLetters: [Set<bigint>, Set<bigint>] = [new Set(), new Set()];
  /** Then all comes out as if each market's trades had been dealt with one after the other. */
  readonly timeStandsStill: boolean;
  readonly readers: Reader[] = [];
  readonly coverage: MoveCoverage;
  readonly #draw: Draw;
  readonly #messages: Message[] = [];
  readonly #owners: (Reader | undefined)[] = [];
  readonly #committed = [0, 0];
  readonly #isDone = [false, false];
  readonly #faults: readonly (() => void)[] = [
    ...[1, 2].map(() => () => this.#kill()),
    () => {
      this.count('a partition goes to another process');
      this.#startReader(this.#draw(2));
    },
    () => {
      this.count('a shard crashes');
      this.#anyShard().crash(this.#draw(4));
    },
    ...[1, 2, 3].map(() => () => this.#anyShard().open()),
    () => {
      this.count('an acknowledgement is not waited for');
      this.#anyShard().lapse();
    },
    ...[1, 2].map(() => () => this.#passTime()),
  ];
  #nowMs = START_MS;
  #isHealing = false;

  constructor(draw: Draw, coverage: MoveCoverage) {
    this.#draw = draw;
    this.coverage = coverage;
    this.timeStandsStill = draw(2) === 0;
    this.trades = MARKET_DAYS.map((_, partition) => drawTrades(draw, partition, 1 + draw(TRADES_MAX)));
  }

  async run(): Promise<void> {
    this.#grantAll();
    for (const partition of this.trades.keys()) this.#startReader(partition);
    for (let steps = this.#draw(STEPS_MAX); steps > 0; steps--) await this.#step();
    this.#isHealing = true;
    for (const shard of this.shards) shard.open();
    for (let steps = 0; this.#isDone.includes(false); steps++) {
      if (steps === HEALING_STEPS_MAX)
        throw new Error('the trades are not dealt with, though nothing is away');
      await this.#step();
    }
    // What processes that were taken to be dead have still under way.
    do {
      this.#deliver();
      for (const shard of this.shards) shard.acknowledge(Number.POSITIVE_INFINITY);
      await turn();
    } while (this.#messages.length > 0);
  }

  count(name: string): void {
    this.coverage.set(name, (this.coverage.get(name) ?? 0) + 1);
  }

  shardOf(agentId: number): FaultyShard {
    return this.shards[agentId % 2 === 0 ? 0 : 1];
  }

  #grantAll(): void {
    for (const agentId of AGENTS) {
      for (const days of MARKET_DAYS) {
        const nanoUsd = BigInt(this.#draw(60));
        if (nanoUsd === 0n) continue;
        this.granted.push({ agentId, days, nanoUsd });
        const grant = {
          type: 'grant',
          agentId,
          grantId: `g-${days}`,
          expiresAtMs: day(days),
          nanoUsd,
        } as const;
        this.shardOf(agentId).execute(grant, this.#nowMs);
      }
    }
    for (const shard of this.shards) shard.acknowledge(Number.POSITIVE_INFINITY);
  }

  async #step(): Promise<void> {
    const kind = this.#draw(this.#isHealing ? 80 : 100);
    if (kind < 55) this.#deliver();
    else if (kind < 80) this.#anyShard().acknowledge(1 + this.#draw(4));
    else this.#fault();
    await turn();
  }

  #deliver(): void {
    const [message] = this.#messages.splice(this.#draw(Math.max(1, this.#messages.length)), 1);
    if (message === undefined) return;
    // What a process had sent before it died may arrive all the same.
    if (message.from.isAlive || this.#draw(2) === 0) message.arrive();
  }

  #fault(): void {
    pick(this.#draw, this.#faults)();
  }

  #kill(): void {
    const alive = this.readers.filter(({ isAlive }) => isAlive);
    const reader = alive[this.#draw(Math.max(1, alive.length))];
    if (reader === undefined) return;
    reader.isAlive = false;
    this.count(
      reader.mover.inTransitNanoUsd > 0n ? 'a process dies with credit in transit' : 'a process dies',
    );
    if (this.#owners[reader.partition] === reader) this.#startReader(reader.partition);
  }

  #passTime(): void {
    if (this.timeStandsStill) return;
    this.#nowMs += this.#draw(20) * 3_600_000;
    const agentId = pick(this.#draw, AGENTS);
    this.shardOf(agentId).execute({ type: 'expire', agentId, endedByMs: this.#nowMs }, this.#nowMs);
  }

  #anyShard(): FaultyShard {
    return this.shards[this.#draw(2) === 0 ? 0 : 1];
  }

  #startReader(partition: number): void {
    const reader: Reader = {
      ...{ partition, isAlive: true },
      mover: new CreditMover({
        ledger: { execute: (command) => this.#send(reader, () => this.#execute(command)) },
        reject: ({ tradeId, seq }, reason) =>
          this.#send(reader, () => {
            this.rejected.push({ tradeId, seq, partition, reason });
            this.count(`rejected: ${reason}`);
            if (this.#isLost()) throw new Error('nobody knows whether it was written');
          }),
        log: silent,
      }),
    };
    this.readers.push(reader);
    this.#owners[partition] = reader;
    this.#isDone[partition] = false;
    void this.#read(reader);
  }

  /** As a consumer group does it: places are kept after the records are dealt with, and only by who owns the partition. */
  async #read(reader: Reader): Promise<void> {
    const { partition, mover } = reader;
    const trades = this.trades[partition] ?? [];
    let place = this.#committed[partition] ?? 0;
    while (place < trades.length) {
      const records = trades
        .slice(place, place + 1 + this.#draw(10))
        .map(({ bytes }, i) => ({ offset: BigInt(place + i), bytes }));
      const batch: FeedBatch = { partition, records };
      const { outcomes, resumeOffset } = await mover.handle(batch);
      if (!reader.isAlive) return;
      if (this.#owners[partition] !== reader) return mover.forget(partition);
      for (const [i, { outcome }] of outcomes.entries()) {
        if (outcome === 'dead_letter') this.deadLetters[partition === 0 ? 0 : 1].add(BigInt(place + i));
        this.count(outcome);
      }
      place += outcomes.filter(({ outcome }) => outcome !== 'try_again').length;
      if (resumeOffset !== null && this.#draw(4) > 0) this.#committed[partition] = Number(resumeOffset);
    }
    this.#isDone[partition] = true;
  }

  /** Resolves, or never, at a moment that is drawn. */
  #send<T>(from: Reader, arrive: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (!from.isAlive) return;
      this.#messages.push({
        from,
        arrive() {
          try {
            const answer = arrive();
            if (from.isAlive) resolve(answer);
          } catch (error) {
            if (from.isAlive) reject(error);
          }
        },
      });
    });
  }

  #execute<C extends Command>(command: C): Executed<ResultOf<C>> {
    const executed = this.shardOf(command.agentId).execute(command, this.#nowMs);
    const { result } = executed;
    const isRepeated = 'repeated' in result && result.repeated;
    if ('expiredNanoUsd' in result && result.expiredNanoUsd > 0n)
      this.count('bought credit expires as it comes in');
    if (!result.ok && result.reason === 'unavailable') this.count(`${command.type} unavailable`);
    else this.count(`${command.type}${isRepeated ? ' repeated' : ''}`);
    if (!this.#isLost()) return executed;
    this.count('an answer is lost');
    return { result: { ok: false, reason: 'unavailable' }, durable: Promise.resolve('durable') };
  }

  #isLost(): boolean {
    return !this.#isHealing && this.#draw(10) === 0;
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** What has to have happened, or nothing was proven of it. */
export const missingMoves = (coverage: MoveCoverage): string[] =>
  [
    ...['done', 'try_again', 'dead_letter', 'an answer is lost', 'a shard crashes', 'a process dies'],
    ...['a process dies with credit in transit', 'a partition goes to another process'],
    ...['an acknowledgement is not waited for', 'bought credit expires as it comes in'],
    ...['move_out', 'move_in'].flatMap((name) => [name, `${name} repeated`, `${name} unavailable`]),
    ...tradeRejections.map((reason) => `rejected: ${reason}`),
  ].filter((name) => !coverage.has(name));
