/** All keys of a shard share one slot of a Redis Cluster by their tag. */
export class ShardKeys {
  readonly meta: string;
  readonly outbox: string;
  readonly agents: string;
  readonly keyHashes: string;
  readonly open: string;
  readonly ends: string;
  readonly videos: string;
  readonly #prefix: string;
  readonly #ofCalls = new Map<number, CallKeys>();

  constructor(shard: number) {
    this.#prefix = `faregate:{s${String(shard).padStart(2, '0')}}`;
    this.meta = `${this.#prefix}:meta`;
    this.outbox = `${this.#prefix}:outbox`;
    this.agents = `${this.#prefix}:agents`;
    this.keyHashes = `${this.#prefix}:key-hashes`;
    this.open = `${this.#prefix}:open`;
    this.ends = `${this.#prefix}:ends`;
    this.videos = `${this.#prefix}:videos`;
  }

  /** Where it is told how far the log has the shard's events. */
  get ackedChannel(): string {
    return `${this.meta}:acked`;
  }

  /** Where a publisher is told that there is something to do. */
  get wakeChannel(): string {
    return `${this.meta}:wake`;
  }

  /** What a claim clears away, and what it reads. */
  get claimed(): string[] {
    return [this.meta, this.outbox, this.agents, this.keyHashes, this.open, this.ends, this.videos];
  }

  /** One agent's part: `''` is the agent itself. */
  agent(agentId: number, what: AgentKey = ''): string {
    return `${this.#prefix}:a:${agentId}${what}`;
  }

  /**
   * Marks of calls that were given up. No part of the agent: the log does not have them, and a recovery must leave them in
   * this node, because it does not end the connections on which their starts may still arrive.
   */
  givenUp(agentId: number): string {
    return `${this.#prefix}:a:${agentId}:given-up`;
  }

  /** The keys that the steps of one agent's calls take. They are cached: half of what a step allocates would be their names. */
  ofCalls(agentId: number): CallKeys {
    const cached = this.#ofCalls.get(agentId);
    if (cached !== undefined) return cached;
    const of = (what: AgentKey = '') => this.agent(agentId, what);
    const running = [this.meta, this.outbox, of(), of(':holds'), of(':ended'), of(':slots')];
    const reserve = [...running, of(':keys'), this.open, this.givenUp(agentId)];
    const videos = [this.videos, of(':videos'), of(':videos-ended')];
    const keys: CallKeys = { running, reserve, videos, settle: [...reserve, of(':ended-at'), ...videos] };
    if (this.#ofCalls.size >= AGENTS_CACHED_MAX) this.#ofCalls.clear();
    this.#ofCalls.set(agentId, keys);
    return keys;
  }
}

/** In each shard. The keys of one agent take a kilobyte. */
const AGENTS_CACHED_MAX = 64;

interface CallKeys {
  running: readonly string[];
  reserve: readonly string[];
  /** What those of videos take besides. */
  videos: readonly string[];
  settle: readonly string[];
}

/** All that one agent has in Redis. */
export const agentKeyNames = [
  '',
  ':holds',
  ':ended',
  ':ended-at',
  ':slots',
  ':keys',
  ':grants',
  ':trades',
  ':trades-until',
  ':sources',
  ':uploads',
  ':videos',
  ':videos-ended',
  ':stored',
] as const;
export type AgentKey = (typeof agentKeyNames)[number];
