import { Acknowledgements } from '#core/ledger/cluster/acknowledgements.ts';
import { SHARDS_POLL_MS } from '#core/ledger/cluster/open-cluster-ledger.ts';
import { ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import { createRedisLedger, type RedisLedger, type ShardLedger } from '#core/ledger/cluster/redis-ledger.ts';
import type { ShardTimes } from '#core/ledger/cluster/shards-seen.ts';
import type { Command, ResultOf } from '#core/ledger/command.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import type { Log } from '#core/log.ts';
import { RedisConnection } from './redis-connection.ts';
import { SimProcess } from './sim-process.ts';
import type { SimWorld } from './sim-world.ts';
import { type ToldOptions, toldLedger, toldShard } from './told-ledger.ts';

/** What every process of the cluster has: a way to Redis, and the product's ledger on it. */
export class SimHost {
  readonly world: SimWorld;
  readonly process: SimProcess;
  readonly connection: RedisConnection;
  readonly ledger: Ledger;
  readonly logger: Log;
  readonly keys: readonly ShardKeys[];
  readonly #acknowledgements: Acknowledgements;
  readonly #redisLedger: RedisLedger;
  readonly #told: ToldOptions;

  constructor(world: SimWorld, name: string) {
    const { time, draw, groups, shards } = world;
    this.world = world;
    this.process = new SimProcess(name, time, world.doubtsJumps);
    this.keys = Array.from({ length: shards }, (_, shard) => new ShardKeys(shard));
    this.logger = world.loggerOf(name);
    this.connection = new RedisConnection({
      time,
      draw,
      process: this.process,
      groups,
      network: () => world.network,
      count: (what) => world.count(what),
      onReply: (script) => world.mayKillAfter(this, script),
    });
    this.#acknowledgements = new Acknowledgements({
      clock: this.process.clock,
      ask: async (shard) => {
        const of = this.#keysOf(shard);
        const [word, epoch, acked] = await this.connection.run('position', [of.meta, of.outbox], []);
        return word === 'OK' ? `${epoch}-${acked}` : null;
      },
    });
    this.#redisLedger = createRedisLedger({
      scripts: this.connection,
      shards,
      clock: this.process.clock,
      log: this.logger,
      acknowledged: (shard, place) => this.#acknowledgements.wait(shard, place),
      onNodeTime: (nodeMs) => this.process.trusted?.noteOther(nodeMs),
    });
    this.#told = {
      oracle: world.oracle,
      broken: world.broken,
      onTold: (command, result) => this.onTold(command, result),
      answersAtOnce: (command) => world.ports.answersAtOnce(command),
    };
    this.ledger = toldLedger(this.#redisLedger, this.#told);
    this.connection.subscribe((channel, message) => this.onMessage(channel, message));
    if (this.process.trusted !== null) this.#lookAtShards();
  }

  /** How the clocks of the nodes, the shards and this process agree, as far as it has seen them. */
  get times(): ShardTimes {
    return this.#redisLedger.stats().times;
  }

  onTold(_command: Command, _result: ResultOf<Command>): void {}

  ofShard(shard: number): ShardLedger {
    return toldShard(this.#redisLedger.ofShard(shard), this.#told);
  }

  /** Killed: nothing comes to it any more, and what it was at is left as it is. */
  die(): void {
    this.process.alive = false;
    this.connection.close();
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.process.clock.setTimer(ms, resolve));
  }

  protected onMessage(channel: string, message: string): void {
    const [, shard, what] = /\{s(\d+)\}:meta:(\w+)$/.exec(channel) ?? [];
    if (what === 'acked') this.#acknowledgements.note(Number(shard), message);
  }

  /** As `openClusterLedger` and `watchClock` do. */
  #lookAtShards(): void {
    this.process.trusted?.doubt();
    void this.#redisLedger.lookAtShards();
    this.process.clock.setTimer(SHARDS_POLL_MS, () => this.#lookAtShards());
  }

  #keysOf(shard: number): ShardKeys {
    const keys = this.keys[shard];
    if (keys === undefined) throw new RangeError(`no shard ${shard}`);
    return keys;
  }
}
