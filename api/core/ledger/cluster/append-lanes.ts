import { type Clock, SECOND_MS } from '../../clock.ts';

export interface AppendLanesOptions {
  clock: Clock;
  /** One request for each leader that some of these shards have. */
  send: (some: readonly ShardTexts[]) => Promise<void>;
  /** The leader of each shard, by any name. */
  leaders: () => Promise<ReadonlyMap<number, string>>;
  /** Whether the log answered, and refused, rather than not answering. */
  isRefusal: (error: unknown) => boolean;
}

export interface ShardTexts {
  shard: number;
  texts: readonly string[];
}

/** A broker takes far more; its memory and ours need not. */
const REQUEST_BYTES_MAX = 4 * 1024 * 1024;
const LEARN_AGAIN_MS = SECOND_MS;
/** A shard whose records are refused would have all others of its leader sent twice. */
const ALONE_MS = 5 * SECOND_MS;

/**
 * Appends of all shards with one leader share its next request, because a broker's cost is by the request. Each leader
 * has one under way, so that one that hangs keeps no other's shards waiting.
 */
export class AppendLanes {
  readonly #options: AppendLanesOptions;
  readonly #lanes = new Map<string, Lane>();
  /** Only for what is sent together. */
  #leaders: ReadonlyMap<number, string> = new Map();
  #learnAtMs = Number.NEGATIVE_INFINITY;
  readonly #aloneUntilMs = new Map<number, number>();

  constructor(options: AppendLanesOptions) {
    this.#options = options;
  }

  /** Resolves once the log has said that it has them. */
  append(shard: number, texts: readonly string[]): Promise<void> {
    const lane = this.#laneOf(this.#isAlone(shard) ? `shard ${shard}` : this.#leaderOf(shard));
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    return new Promise((resolve, reject) => {
      lane.waiting.push({ shard, texts, bytes, resolve, reject });
      if (!lane.isBusy) void this.#empty(lane);
    });
  }

  async #empty(lane: Lane): Promise<void> {
    lane.isBusy = true;
    // What one answer of Redis has set off comes in one turn of the loop.
    await new Promise<void>((resolve) => void setImmediate(resolve));
    while (lane.waiting.length > 0) {
      const some = takeNext(lane.waiting);
      try {
        await this.#options.send(some);
        for (const { resolve } of some) resolve();
      } catch (error) {
        // A shard may have another leader by now.
        this.#leaders = new Map();
        await this.#retryIndividually(some, error);
      }
    }
    lane.isBusy = false;
  }

  /** A refusal may be of one shard's records only. Who did not answer would only be waited for once more. */
  async #retryIndividually(some: readonly Append[], error: unknown): Promise<void> {
    const { clock, isRefusal, send } = this.#options;
    if (some.length === 1 || !isRefusal(error)) {
      for (const { reject } of some) reject(error);
      return;
    }
    const sendAlone = async (append: Append): Promise<void> => {
      try {
        await send([append]);
        append.resolve();
      } catch (alone) {
        this.#aloneUntilMs.set(append.shard, clock.monotonicMs() + ALONE_MS);
        append.reject(alone);
      }
    };
    await Promise.all(some.map(sendAlone));
  }

  #isAlone(shard: number): boolean {
    const untilMs = this.#aloneUntilMs.get(shard);
    if (untilMs === undefined) return false;
    if (this.#options.clock.monotonicMs() < untilMs) return true;
    this.#aloneUntilMs.delete(shard);
    return false;
  }

  #leaderOf(shard: number): string {
    const leader = this.#leaders.get(shard);
    if (leader !== undefined) return `leader ${leader}`;
    void this.#learn();
    return `shard ${shard}`;
  }

  async #learn(): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs < this.#learnAtMs) return;
    this.#learnAtMs = nowMs + LEARN_AGAIN_MS;
    try {
      this.#leaders = await this.#options.leaders();
    } catch {
      // Each shard goes by itself meanwhile, and says so where it fails.
    }
  }

  #laneOf(name: string): Lane {
    const known = this.#lanes.get(name);
    if (known !== undefined) return known;
    const lane: Lane = { waiting: [], isBusy: false };
    this.#lanes.set(name, lane);
    return lane;
  }
}

interface Append extends ShardTexts {
  bytes: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

interface Lane {
  waiting: Append[];
  isBusy: boolean;
}

/** As many as one request may hold, at least one. */
function takeNext(waiting: Append[]): Append[] {
  let bytes = 0;
  let count = 0;
  for (const append of waiting) {
    bytes += append.bytes;
    if (count > 0 && bytes > REQUEST_BYTES_MAX) break;
    count++;
  }
  return waiting.splice(0, count);
}
