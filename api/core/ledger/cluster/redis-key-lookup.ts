import { type Clock, SECOND_MS } from '../../clock.ts';
import { KNOWN_KEYS_MAX } from '../../limits.ts';
import { setBounded } from '../../set-bounded.ts';
import type { KeyLookup } from '../ledger.ts';
import type { KeyOwner } from '../machine/state.ts';
import { parsePlace } from './place.ts';
import { ShardKeys } from './redis-keys.ts';
import type { ScriptReply, ScriptRun } from './redis-scripts.ts';

/**
 * A call may start with what was known of its key this long ago. Its reserve, and any refusal before that,
 * reads the key again.
 */
export const RECALLED_KEY_MS = 10 * SECOND_MS;
/** An unknown key is looked up again after this long. */
export const UNKNOWN_KEY_MS = 5 * SECOND_MS;
/** Unknown keys that are remembered. */
const UNKNOWN_KEYS_MAX = 10_000;

export interface RedisKeyLookupOptions {
  clock: Clock;
  shardOf: (hash: string) => number;
  read: (shard: number, call: ScriptRun) => Promise<ScriptReply>;
  /** The newest epoch of a shard that an answer came from. */
  epochOf: (shard: number) => number;
}

/** Whose key it is, and until when it may be taken to be as live as it was. */
interface KnownKey extends KeyOwner {
  liveUntilMs: number;
  /** Only the latest says whether it is live: the answer to an older one may come after it. */
  lookUps: number;
}

/** In that epoch of its shard: another node may know it. */
interface UnknownKey {
  untilMs: number;
  epoch: number;
}

/**
 * Whose key a hash is never changes, so it is asked once; whether the key is live is asked each time, of a start by its
 * reserve, so that a revocation reaches every process with the next call. A key that nobody knows is not asked for again
 * for some seconds: only one that was tried before it was made can be missed, and only for so long.
 */
export class RedisKeyLookup {
  readonly #options: RedisKeyLookupOptions;
  readonly #owners = new Map<string, KnownKey>();
  readonly #unknown = new Map<string, UnknownKey>();

  constructor(options: RedisKeyLookupOptions) {
    this.#options = options;
  }

  /** The first hash that belongs to a key. */
  async find(hashes: readonly string[]): Promise<KeyLookup> {
    for (const hash of hashes) {
      const found = await this.#findOne(hash);
      if (found === 'unavailable' || found.found) return found;
    }
    return { found: false };
  }

  recall(hashes: readonly string[]): KeyOwner | null {
    const nowMs = this.#options.clock.monotonicMs();
    for (const hash of hashes) {
      const known = this.#owners.get(hash);
      if (known !== undefined && nowMs < known.liveUntilMs) return known;
    }
    return null;
  }

  /** The key has just been made. */
  forget(hash: string): void {
    this.#unknown.delete(hash);
  }

  async #findOne(hash: string): Promise<KeyLookup> {
    const shard = this.#options.shardOf(hash);
    if (this.#isUnknown(hash, shard)) return { found: false };
    const of = new ShardKeys(shard);
    const owner = this.#owners.get(hash) ?? (await this.#askOwner(shard, of, hash));
    if (owner === 'unavailable') return owner;
    if (owner === null) return this.#noteUnknown(hash, shard);
    const { agentId, keyId } = owner;
    const askedAtMs = this.#options.clock.monotonicMs();
    owner.liveUntilMs = 0;
    const lookUp = ++owner.lookUps;
    const keys = [of.meta, of.outbox, of.agent(agentId), of.agent(agentId, ':keys')];
    const [word, place, live, status] = await this.#options.read(shard, ['key_status', keys, [keyId, hash]]);
    if (word !== 'OK' || this.#isOfBefore(shard, place)) return 'unavailable';
    // It was decided in an epoch that ended before the log had it.
    if (live === 'unknown') return this.#noteUnknown(hash, shard);
    const agentStatus = status === 'active' || status === 'suspended' ? status : 'inactive';
    const revoked = live === 'revoked';
    const isLatest = owner.lookUps === lookUp;
    if (isLatest && !revoked && agentStatus === 'active') owner.liveUntilMs = askedAtMs + RECALLED_KEY_MS;
    return { found: true, agentId, keyId, revoked, agentStatus };
  }

  async #askOwner(shard: number, of: ShardKeys, hash: string): Promise<KnownKey | null | 'unavailable'> {
    const keys = [of.meta, of.outbox, of.keyHashes];
    const [word, place, found] = await this.#options.read(shard, ['find_key', keys, [hash]]);
    if (word !== 'OK') return 'unavailable';
    const [agentId, keyId] = String(found).split(':').map(Number);
    if (agentId === undefined || keyId === undefined) {
      return this.#isOfBefore(shard, place) ? 'unavailable' : null;
    }
    const owner = { agentId, keyId, liveUntilMs: 0, lookUps: 0 };
    setBounded(this.#owners, hash, owner, KNOWN_KEYS_MAX);
    return owner;
  }

  /** A primary of before does not know what was made or revoked since. */
  #isOfBefore(shard: number, place: unknown): boolean {
    return parsePlace(String(place)).epoch < this.#options.epochOf(shard);
  }

  #isUnknown(hash: string, shard: number): boolean {
    const { clock, epochOf } = this.#options;
    const unknown = this.#unknown.get(hash);
    return unknown !== undefined && clock.monotonicMs() < unknown.untilMs && unknown.epoch === epochOf(shard);
  }

  #noteUnknown(hash: string, shard: number): KeyLookup {
    const { clock, epochOf } = this.#options;
    this.#owners.delete(hash);
    const unknown = { untilMs: clock.monotonicMs() + UNKNOWN_KEY_MS, epoch: epochOf(shard) };
    setBounded(this.#unknown, hash, unknown, UNKNOWN_KEYS_MAX);
    return { found: false };
  }
}
