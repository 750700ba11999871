import type { RedisScripts, ScriptArg, ScriptName, ScriptReply } from '#core/ledger/cluster/redis-scripts.ts';
import type { Draw } from '../ledger/history/random.ts';
import type { SimProcess } from './sim-process.ts';
import type { OnMessage, RedisGroup, RedisNode } from './sim-redis.ts';
import type { VirtualTime } from './virtual-time.ts';

const COMMAND_TIMEOUT_MS = 500;

/** What may happen to one command on its way, in parts of a thousand. */
export interface Network {
  requestLost: number;
  replyLost: number;
  /** Answers after 50 to 700 ms. */
  slow: number;
  /** Some other node that is alive answers: a connection of before, or a name not yet known anew. */
  astray: number;
  messageLost: number;
}

export interface ConnectionOptions {
  time: VirtualTime;
  draw: Draw;
  process: SimProcess;
  groups: readonly RedisGroup[];
  network: () => Network;
  count: (what: string) => void;
  /** After an answer arrived: a moment to die. */
  onReply: (name: ScriptName) => void;
}

/** One process's way to Redis, with what gets lost on it. No command is ever sent twice by itself. */
export class RedisConnection implements RedisScripts {
  readonly #options: ConnectionOptions;
  readonly #stuck = new Map<RedisGroup, RedisNode>();
  #onMessage: OnMessage | null = null;
  /** What is sent until then has got stuck in a connection that is given up, and arrives later. */
  #stalled = { untilMs: 0, arrivesAtMs: 0 };
  readonly #subscribed = new Map<RedisGroup, RedisNode>();

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Stays with this node while it lives, whoever the primary is. */
  stickTo(group: RedisGroup, node: RedisNode | null): void {
    if (node === null) this.#stuck.delete(group);
    else this.#stuck.set(group, node);
  }

  /** As Linux delivers after a cut: what an old connection still holds arrives after a newer connection's bytes. */
  stall(forMs: number, arrivesAfterMs: number): void {
    const { nowMs } = this.#options.time;
    this.#stalled = { untilMs: nowMs + forMs, arrivesAtMs: nowMs + arrivesAfterMs };
  }

  run(name: ScriptName, keys: readonly string[], args: readonly ScriptArg[]): Promise<ScriptReply> {
    const { time, process, draw, count } = this.#options;
    const network = this.#options.network();
    const may = (thousandths: number): boolean => draw(1_000) < thousandths;
    const group = this.#groupOf(keys[0] ?? '');
    const node = this.#nodeFor(group, may(network.astray));
    const texts = args.map(String);
    return new Promise((resolve, reject) => {
      let waiting = true;
      const timeout = process.clock.setTimer(COMMAND_TIMEOUT_MS, () => {
        count('command timed out');
        waiting = false;
        reject(new Error('Command timed out'));
      });
      const answer = (give: () => void): void => {
        if (!waiting) return;
        waiting = false;
        timeout.cancel();
        give();
        this.#options.onReply(name);
      };
      const later = (ms: number, give: () => void): void =>
        void time.after(ms, () => process.receive(() => answer(give), draw(3)));
      const closed = () => reject(new Error('Connection is closed.'));
      const slowMs = node.slowMs + (may(network.slow) ? 50 + draw(650) : 0);
      const stalledMs = this.#stalledMs(name);
      if (may(network.requestLost)) return count('request lost');
      time.after(draw(3) + slowMs + stalledMs, () => {
        if (!node.alive) return later(1, closed);
        let give: () => void;
        try {
          const reply = this.#runOn(group, node, name, keys, texts);
          give = () => resolve(reply);
        } catch (error) {
          give = () => reject(error);
        }
        if (may(network.replyLost)) return count('reply lost');
        later(draw(3), give);
      });
    });
  }

  #stalledMs(name: ScriptName): number {
    const { time, count } = this.#options;
    const { untilMs, arrivesAtMs } = this.#stalled;
    if (time.nowMs >= untilMs) return 0;
    count(`${name} sent too late`);
    return arrivesAtMs - time.nowMs;
  }

  #runOn(
    group: RedisGroup,
    node: RedisNode,
    name: ScriptName,
    keys: readonly string[],
    args: readonly string[],
  ): ScriptReply {
    const reply = group.run(node, name, keys, args);
    this.#options.count(`${name} ${reply[0]}`);
    if (name === 'ack' && reply[1] !== args[0]) this.#options.count('ack of another epoch');
    if (name === 'leftover' && args[0] !== '-' && Array.isArray(reply[1]) && reply[1].length > 0) {
      this.#options.count('leftover of several pages');
    }
    return reply;
  }

  /** Messages of whichever nodes the process is connected to. Some are lost. */
  subscribe(onMessage: OnMessage): void {
    this.#onMessage = onMessage;
    this.resubscribe();
  }

  /** After a node went away, or another became the primary. */
  resubscribe(): void {
    if (this.#onMessage === null) return;
    for (const group of this.#options.groups) {
      const node = this.#nodeFor(group, false);
      const before = this.#subscribed.get(group);
      if (before === node) continue;
      before?.subscribers.delete(this.#hear);
      node.subscribers.add(this.#hear);
      this.#subscribed.set(group, node);
    }
  }

  close(): void {
    for (const node of this.#subscribed.values()) node.subscribers.delete(this.#hear);
    this.#subscribed.clear();
    this.#onMessage = null;
  }

  readonly #hear: OnMessage = (channel, message) => {
    const { time, process, draw, network } = this.#options;
    if (draw(1_000) < network().messageLost) return;
    time.after(1 + draw(3), () => process.receive(() => this.#onMessage?.(channel, message)));
  };

  #nodeFor(group: RedisGroup, astray: boolean): RedisNode {
    const stuck = this.#stuck.get(group);
    if (stuck?.alive) return stuck;
    this.#stuck.delete(group);
    const live = astray ? group.liveNodes : [];
    const other = live[this.#options.draw(Math.max(1, live.length))];
    return other ?? group.primary;
  }

  #groupOf(key: string): RedisGroup {
    const shard = Number(/\{s(\d+)\}/.exec(key)?.[1]);
    const group = this.#options.groups.find(({ shards }) => shards.includes(shard));
    if (group === undefined) throw new Error(`no Redis for ${key}`);
    return group;
  }
}
