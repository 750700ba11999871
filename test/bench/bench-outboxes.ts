import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '#core/clock.ts';
import type { RedisClient } from '#core/drivers/redis.ts';
import { createIdSource } from '#core/ids.ts';
import { toScriptCall } from '#core/ledger/cluster/redis-commands.ts';
import { ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import { createRedisScripts, type RedisScripts } from '#core/ledger/cluster/redis-scripts.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import type { Command } from '#core/ledger/command.ts';
import { openingOf, reserveOf, settleOf } from './bench-commands.ts';

/** Of all shards: an agent of each that calls, and who may take its events to the log. */
export class Outboxes {
  readonly #redis: RedisClient;
  readonly #scripts: RedisScripts;
  readonly #ids = createIdSource(systemClock);
  readonly #shards = Array.from({ length: SHARDS }, (_, shard) => ({
    agentId: SHARDS + shard,
    keys: new ShardKeys(shard),
  }));

  constructor(redis: RedisClient) {
    this.#redis = redis;
    this.#scripts = createRedisScripts(redis);
  }

  async open(): Promise<void> {
    for (const { agentId, keys } of this.#shards) {
      for (const command of openingOf(agentId, Date.now())) await this.#run(keys, command);
    }
  }

  /** Shard after shard, because one whose oldest event has waited for two seconds starts nothing. */
  async fill(calls: number): Promise<void> {
    for (const { agentId, keys } of this.#shards) {
      const one = async (): Promise<void> => {
        const callId = this.#ids.next();
        await this.#run(keys, reserveOf(agentId, callId, Date.now()));
        await this.#run(keys, settleOf(agentId, callId));
      };
      await Promise.all(Array.from({ length: Math.ceil(calls / SHARDS) }, one));
    }
  }

  /** Decided, and not acknowledged. */
  async waiting(): Promise<number> {
    const all = await Promise.all(
      this.#shards.map(({ keys }) => this.#redis.hmget(keys.meta, 'seq', 'acked')),
    );
    return all.reduce((sum, [seq, acked]) => sum + Number(seq) - Number(acked), 0);
  }

  /** Resolves once the worker has seen that another one leads. */
  async takeFromWorker(): Promise<void> {
    while ((await this.waiting()) > 0) await pause(POLL_MS);
    for (const { keys } of this.#shards) await this.#redis.hset(keys.meta, { lease: '', lease_until: 0 });
    await this.#lease(RIVAL_LEASE_MS);
    await pause(RIVAL_SEEN_MS);
  }

  async leaveToWorker(): Promise<void> {
    await this.#lease(0);
  }

  async #lease(leaseMs: number): Promise<void> {
    await Promise.all(
      this.#shards.map(({ keys }) => this.#scripts.run('lease', [keys.meta], [RIVAL, leaseMs])),
    );
  }

  async #run(of: ShardKeys, command: Command): Promise<void> {
    const { name, keys, args } = toScriptCall(command, of);
    const [word] = await this.#scripts.run(name, keys, args);
    if (word !== 'OK') throw new Error(`${command.type}: ${word}`);
  }
}

const POLL_MS = 10;
const RIVAL = 'bench';
const RIVAL_LEASE_MS = 9_000;
/** The worker looks twice a second. */
const RIVAL_SEEN_MS = 700;
