import { ShardPublisher } from '#core/ledger/cluster/shard-publisher.ts';
import { ShardSettlements } from '../../workers/settlement/shard-settlements.ts';
import { SimHost } from './sim-host.ts';
import type { SimWorld } from './sim-world.ts';

/** As the product's: where a wake-up was lost. */
const POLL_MS = 250;

/** A settlement worker: publishes and rebuilds every shard, prices calls, ends credit, frees orphans. */
export class SimWorker extends SimHost {
  #publishers: ShardPublisher[] = [];
  #settlements: ShardSettlements | null = null;

  constructor(world: SimWorld, name: string) {
    super(world, name);
    this.start().catch(() => {
      // Its first words to the log or to Redis failed: it ends, and is started again.
      world.count('worker failed to start');
      world.kill(this);
    });
  }

  private async start(): Promise<void> {
    const { world, process, logger } = this;
    const { scripts, log, states } = world.ports.publisher({
      scripts: this.connection,
      log: world.broker.logOf(process),
      states: world.copies.agentsOf(process),
    });
    const from = await log.ends();
    for (const [shard, of] of this.keys.entries()) {
      const [word, , , offset] = await scripts.run('position', [of.meta, of.outbox], []);
      if (word === 'OK') from.set(shard, BigInt(String(offset)));
    }
    this.#publishers = this.keys.map(
      (keys, shard) =>
        new ShardPublisher({
          shard,
          keys,
          scripts,
          log,
          states,
          clock: process.clock,
          logger,
          recoverer: process.name,
          tailFrom: from.get(shard) ?? 0n,
          onEvent: (event) => this.#settlements?.onEvent(event),
        }),
    );
    await log.tail(from, (shard, record) => this.#publishers[shard]?.onRecord(record));
    this.#poll();
    this.#settlements = new ShardSettlements({
      shards: world.shards,
      ofShard: (shard) => world.ports.settlement(this.ofShard(shard)),
      ledShards: () => this.#publishers.flatMap(({ isLeading }, shard) => (isLeading ? [shard] : [])),
      logTimeMs: (shard) => this.#publishers[shard]?.logTimeMs ?? 0,
      clock: process.clock,
      log: logger,
      lookUp: (_, generationId) => world.provider.lookUp(generationId, this),
      onCost: () => {},
      onLoss: (cause) => world.count(`settlement loss ${cause}`),
      onPriced: () => world.count('priced later'),
    });
  }

  /** Told to end: what is under way is left, another one takes over. */
  stop(): void {
    for (const publisher of this.#publishers) void publisher.stop();
    this.#settlements?.close();
  }

  protected override onMessage(channel: string, message: string): void {
    super.onMessage(channel, message);
    const [, shard] = /\{s(\d+)\}:meta:wake$/.exec(channel) ?? [];
    const publisher = shard === undefined ? undefined : this.#publishers[Number(shard)];
    if (message === 'free') publisher?.takeOver();
    else publisher?.wake();
  }

  #poll(): void {
    for (const publisher of this.#publishers) publisher.wake();
    this.process.clock.setTimer(POLL_MS, () => this.#poll());
  }
}
