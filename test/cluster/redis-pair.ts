import type { Redis } from 'ioredis';
import type { Service } from '../services/service.ts';
import { startRedis } from '../services/start-redis.ts';
import { connectTo } from '../support/connect-to.ts';
import { until } from '../support/gateway.ts';
import { startTcpForwarder, type TcpForwarder } from '../support/tcp-forwarder.ts';

/** Two sides of the cluster's processes, each with an address of its own for Redis, so that they can be parted. */
export const sides = [0, 1] as const;
export type Side = (typeof sides)[number];

/** A Redis, a second one that may follow it, and where each process finds the one that decides. */
export class RedisPair {
  #main: Service;
  readonly #second: Service;
  readonly #ways: readonly [TcpForwarder, TcpForwarder];
  /** How the follower reaches the one it follows. */
  readonly #following: TcpForwarder;

  static async open(main: Service, folder: string): Promise<RedisPair> {
    const second = await startRedis({ dir: folder });
    const ways = [await startTcpForwarder(main.port), await startTcpForwarder(main.port)] as const;
    return new RedisPair(main, second, ways, await startTcpForwarder(null));
  }

  private constructor(
    main: Service,
    second: Service,
    ways: readonly [TcpForwarder, TcpForwarder],
    following: TcpForwarder,
  ) {
    this.#main = main;
    this.#second = second;
    this.#ways = ways;
    this.#following = following;
  }

  addressFor(side: Side): string {
    return this.#ways[side].address;
  }

  /** Of the one that decides when all is well. */
  get main(): Service {
    return this.#main;
  }

  async kill(): Promise<void> {
    await this.#main.stop('SIGKILL');
  }

  async restart(): Promise<void> {
    this.#main = await this.#main.restart();
  }

  /** With a connection of its own. */
  async ask<T>(of: 'main' | 'second', question: (client: Redis) => Promise<T>): Promise<T> {
    const client = await connectTo(of === 'main' ? this.#main : this.#second);
    try {
      return await question(client);
    } finally {
      client.disconnect();
    }
  }

  /** Resolves once the follower has what the other one had. */
  async follow(follower: 'main' | 'second'): Promise<void> {
    const leader = follower === 'main' ? this.#second : this.#main;
    this.#following.to(leader.port);
    const { port } = this.#following;
    await this.ask(follower, async (client) => {
      await client.replicaof('127.0.0.1', port);
      await until(async () => {
        const info = await client.info('replication').catch(() => '');
        return /^master_link_status:up/m.test(info) && /^master_sync_in_progress:0/m.test(info);
      }, SYNC_MS);
    });
  }

  /** From now on the follower misses what the other one decides. */
  cutOff(): void {
    this.#following.to(null);
  }

  async promote(which: 'main' | 'second'): Promise<void> {
    await this.ask(which, (client) => client.replicaof('NO', 'ONE'));
  }

  /** What this side has sent, and sends over its old connections, arrives when the answer says so, after newer ones' bytes. */
  stall(side: Side): () => void {
    return this.#ways[side].stall();
  }

  send(side: Side, to: 'main' | 'second'): void {
    this.#ways[side].to(to === 'main' ? this.#main.port : this.#second.port);
  }

  async close(): Promise<void> {
    for (const way of [...this.#ways, this.#following]) way.close();
    await Promise.all([this.#main.stop('SIGKILL'), this.#second.stop('SIGKILL')]);
  }
}

const SYNC_MS = 20_000;
