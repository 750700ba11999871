import { SECOND_MS } from '#core/clock.ts';
import { ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import type { ScriptName, ScriptReply } from '#core/ledger/cluster/redis-scripts.ts';
import type { ScriptHandlers } from './script-handlers.ts';
import { ShardStore } from './shard-store.ts';
import type { VirtualTime } from './virtual-time.ts';

export type OnMessage = (channel: string, message: string) => void;

/** A node's data at one moment: what a file or a replica has of it. */
export type NodeData = ReadonlyMap<number, ShardStore>;

/** One life of one Redis, with all shards of its group. */
export class RedisNode {
  readonly runId: string;
  replId: string;
  data: Map<number, ShardStore>;
  alive = true;
  /** Refuses what may be refused for want of memory. */
  full = false;
  skewMs = 0;
  /** Of every answer, while it is busy. */
  slowMs = 0;
  readonly subscribers = new Set<OnMessage>();

  constructor(id: number, data: NodeData) {
    this.runId = `run${id}`;
    this.replId = `repl${id}`;
    this.data = copyOf(data);
  }
}

export const copyOf = (data: NodeData): Map<number, ShardStore> =>
  new Map(Array.from(data, ([shard, store]) => [shard, store.copy()]));

/** Scripts without `allow-oom` that write; reads are never refused. */
const NEEDS_MEMORY: ReadonlySet<ScriptName> = new Set([
  'reserve',
  'grant',
  'move_out',
  'put_key',
  'change_key',
  'start_upload',
]);

/** How a node proves that it is the one that opened a shard. */
export type IdentityOf = (node: RedisNode) => string;
export const runAndReplId: IdentityOf = ({ runId, replId }) => `${runId}:${replId}`;

export interface RedisGroupOptions {
  time: VirtualTime;
  shards: readonly number[];
  handlers: ScriptHandlers;
  identityOf: IdentityOf;
}

/** The Redis of some shards: the primary that clients are sent to, and whoever still thinks that it is one. */
export class RedisGroup {
  readonly shards: readonly number[];
  primary: RedisNode;
  nodes: RedisNode[];
  /** Until then an answer may come from a node that is no longer the primary. */
  #staleUntilMs = 0;
  readonly #options: RedisGroupOptions;
  #made = 0;

  constructor(options: RedisGroupOptions) {
    this.#options = options;
    this.shards = options.shards;
    this.primary = this.#make(this.empty());
    this.nodes = [this.primary];
  }

  empty(): NodeData {
    return new Map(this.shards.map((shard) => [shard, new ShardStore(new ShardKeys(shard))]));
  }

  get liveNodes(): RedisNode[] {
    return this.nodes.filter(({ alive }) => alive);
  }

  get mayBeStale(): boolean {
    return this.liveNodes.length > 1 || this.#options.time.nowMs < this.#staleUntilMs;
  }

  /** Old primaries are gone; answers of theirs may still be under way. */
  cutOff(node: RedisNode): void {
    if (!node.alive) return;
    node.alive = false;
    this.#staleUntilMs = this.#options.time.nowMs + 2 * SECOND_MS;
  }

  /** Another node becomes the primary; the one before lives on or not. */
  promote(data: NodeData, oldLives: boolean): RedisNode {
    if (!oldLives) this.cutOff(this.primary);
    const node = this.#make(data);
    node.skewMs = this.primary.skewMs;
    this.nodes = [...this.liveNodes, node];
    this.primary = node;
    return node;
  }

  /** A live node that was the primary before takes the present one's data and is it again, without a restart. */
  failBack(node: RedisNode, data: NodeData): void {
    node.data = copyOf(data);
    node.replId = `repl${++this.#made}`;
    this.cutOff(this.primary);
    this.nodes = this.liveNodes;
    this.primary = node;
  }

  /** Throws as a node that refuses. */
  run(node: RedisNode, name: ScriptName, keys: readonly string[], args: readonly string[]): ScriptReply {
    if (node.full && NEEDS_MEMORY.has(name)) {
      throw new Error("OOM command not allowed when used memory > 'maxmemory'.");
    }
    const shard = Number(/\{s(\d+)\}/.exec(keys[0] ?? '')?.[1]);
    const store = node.data.get(shard);
    if (store === undefined) throw new Error(`shard ${shard} is not of this group`);
    return this.#options.handlers[name]({
      name,
      store,
      identity: this.#options.identityOf(node),
      clockMs: this.#options.time.nowMs + node.skewMs,
      keys,
      args,
      publish: (channel, message) => {
        for (const onMessage of node.subscribers) onMessage(channel, message);
      },
    });
  }

  isOpen(shard: number): boolean {
    const { meta } = this.store(shard);
    return meta.fence === this.#options.identityOf(this.primary);
  }

  /** Of the present primary. */
  store(shard: number): ShardStore {
    const store = this.primary.data.get(shard);
    if (store === undefined) throw new Error(`shard ${shard} is not of this group`);
    return store;
  }

  #make(data: NodeData): RedisNode {
    return new RedisNode(++this.#made, data);
  }
}
