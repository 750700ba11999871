import type { Clock } from '#core/clock.ts';
import type { StoredRecord } from '#core/ledger/cluster/ledger-log.ts';
import type { ShardReader } from '#core/ledger/cluster/shard-reader.ts';
import { type Projector, startProjector } from '../../workers/projector/projector.ts';
import { SimProcess } from './sim-process.ts';
import type { SimWorld } from './sim-world.ts';

/** Copies are made so much more often than by the product's clock: a history is shorter than a day. */
const SPEED = 100;
const TIMER_SPEED = 15;

/** A projector's process, which has every shard for itself, as it believes. */
export class SimProjector {
  readonly process: SimProcess;
  readonly #world: SimWorld;
  #projector: Projector | null = null;

  constructor(world: SimWorld, name: string) {
    this.process = new SimProcess(name, world.time, world.doubtsJumps);
    this.#world = world;
    const { clock } = this.process;
    const quickClock: Clock = {
      now: () => clock.now(),
      monotonicMs: () => clock.monotonicMs() * SPEED,
      setTimer: (delayMs, fire) => clock.setTimer(delayMs / TIMER_SPEED, fire),
    };
    void startProjector({
      join: async (openReader) => {
        const readers = Array.from({ length: world.shards }, (_, shard) => openReader(shard));
        for (const [shard, reader] of readers.entries()) void this.#follow(shard, reader);
        return { stop: async () => void readers.map((reader) => reader.close()) };
      },
      states: world.copies.agentsOf(this.process),
      history: world.copies.historyOf(this.process),
      clock: quickClock,
      log: world.loggerOf(name),
    }).then((projector) => {
      this.#projector = projector;
    });
  }

  die(): void {
    this.process.alive = false;
  }

  /** Told to end: what it has read is copied once more. */
  async stop(): Promise<void> {
    await this.#projector?.stop();
    this.die();
  }

  async #follow(shard: number, reader: ShardReader): Promise<void> {
    const { broker, draw, count } = this.#world;
    const log = broker.logOf(this.process);
    let kept = -1n;
    try {
      await reader.load();
      for (;;) {
        const records: StoredRecord[] = [];
        await log.readToEnd(new Map([[shard, reader.next]]), (_, record) => void records.push(record));
        const last = records.at(-1);
        if (last !== undefined) await reader.read(records.slice(0, 1 + draw(60)), last.offset + 1n);
        if (reader.kept > kept) {
          kept = reader.kept;
          this.#world.onCopied(shard, kept);
        }
        await this.#sleep(last === undefined ? 500 + draw(4_000) : draw(300));
      }
    } catch {
      // The log was trimmed past it: somebody else had the shard, and it did not know.
      count('projection stopped');
      this.die();
      this.#world.projectorStopped();
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.process.clock.setTimer(ms, resolve));
  }
}
