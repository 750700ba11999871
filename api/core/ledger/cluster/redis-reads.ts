import type { VideoJob } from '../../videos/video-job.ts';
import type { Durability, HoldView, Unavailable } from '../ledger.ts';
import { toHoldView } from '../machine/agent-view.ts';
import type { AgentState } from '../machine/state.ts';
import { toAgentState } from './redis-agent.ts';
import type { ShardKeys } from './redis-keys.ts';
import type { ScriptReply, ScriptRun } from './redis-scripts.ts';
import { toOpenVideos, toVideoJob } from './redis-videos.ts';
import { shardOfAgent } from './shards.ts';

/** Agents that are read from Redis at one time. */
const AGENTS_READ_AT_ONCE = 100;

export interface RedisReadsOptions {
  shards: number;
  keysOf: (shard: number) => ShardKeys;
  /** Asks one shard. A read that fails is no answer, and is never taken for an empty one. */
  read: (shard: number, call: ScriptRun) => Promise<ScriptReply>;
  /** Resolves once the log has all of the shard's events up to this place. */
  acknowledged: (shard: number, place: string) => Promise<Durability>;
}

/** Reads agents and videos from Redis. An answer shows only what the log has. */
export class RedisReads {
  readonly #options: RedisReadsOptions;

  constructor(options: RedisReadsOptions) {
    this.#options = options;
  }

  async listEnded(shards: readonly number[], byMs: number): Promise<number[] | Unavailable> {
    const ids = await this.#readIds(shards, 'list_ended', (shard) => shard.ends, [byMs]);
    return ids === 'unavailable' ? ids : ids.map(Number);
  }

  /** The holds of the agents that have some, by the list that each shard keeps of its open calls. */
  async listHolds(shards: readonly number[]): Promise<HoldView[] | Unavailable> {
    const names = await this.#readIds(shards, 'list_open', (shard) => shard.open);
    if (names === 'unavailable') return names;
    const ids = new Set(names.map((name) => Number.parseInt(name, 10)));
    const states = await this.#readStates([...ids]);
    if (states === 'unavailable') return states;
    return states.flatMap(({ agentId, holds }) =>
      Array.from(holds.values(), (hold) => toHoldView(agentId, hold)),
    );
  }

  /** All agents of these shards. */
  async listStates(shards: readonly number[]): Promise<AgentState[] | Unavailable> {
    const ids = await this.#readIds(shards, 'list_agents', (shard) => shard.agents);
    return ids === 'unavailable' ? ids : this.#readStates(ids.map(Number));
  }

  async readState(agentId: number): Promise<{ state: AgentState; nowMs: number } | null | Unavailable> {
    const { shards, keysOf, read } = this.#options;
    const shard = shardOfAgent(agentId, shards);
    const of = keysOf(shard);
    const parts = ['', ':holds', ':slots', ':keys', ':sources'] as const;
    const keys = [of.meta, of.outbox, ...parts.map((what) => of.agent(agentId, what))];
    const reply = await read(shard, ['read_agent', keys, []]);
    const [word, place, nowMs, agent, holds, slots, ofKeys, sources] = reply;
    if (word === 'NONE') return null;
    if (word !== 'OK' || !(await this.#isDurable(shard, place))) return 'unavailable';
    const state = toAgentState(agentId, {
      agent: fieldsOf(agent),
      holds: fieldsOf(holds),
      slots: new Map(Array.from(fieldsOf(slots), ([callId, endsAtMs]) => [Number(callId), Number(endsAtMs)])),
      keys: fieldsOf(ofKeys),
      sources: fieldsOf(sources),
    });
    return { state, nowMs: Number(nowMs) };
  }

  /** `by`: the video's id, or an empty text and its idempotency key. Every caller that waits for a video asks this. */
  async readVideo(agentId: number, by: readonly string[]): Promise<VideoJob | null | Unavailable> {
    const { shards, keysOf, read } = this.#options;
    const shard = shardOfAgent(agentId, shards);
    const of = keysOf(shard);
    const keys = [of.meta, of.outbox, of.videos, of.agent(agentId, ':videos')];
    const [word, place, ...texts] = await read(shard, ['read_video', keys, [agentId, ...by]]);
    if (word !== 'OK' && word !== 'NONE') return 'unavailable';
    if (!(await this.#isDurable(shard, place))) return 'unavailable';
    const [order = '', claim = '', submitted = '', end = ''] = texts.map(String);
    return word === 'NONE' ? null : toVideoJob(order, claim, submitted, end);
  }

  async listOpenVideos(shard: number): Promise<VideoJob[] | Unavailable> {
    const { meta, outbox, videos } = this.#options.keysOf(shard);
    const reply = await this.#options.read(shard, ['list_videos', [meta, outbox, videos], []]);
    const [word, place, fields] = reply;
    if (word !== 'OK' || !(await this.#isDurable(shard, place))) return 'unavailable';
    return toOpenVideos(fieldsOf(fields));
  }

  /** The entries of a list of each shard: ids of agents, or texts that begin with one. */
  async #readIds(
    shards: readonly number[],
    name: 'list_agents' | 'list_ended' | 'list_open',
    listOf: (shard: ShardKeys) => string,
    args: readonly number[] = [],
  ): Promise<string[] | Unavailable> {
    const { keysOf, read } = this.#options;
    const replies = await Promise.all(
      shards.map((shard) => {
        const of = keysOf(shard);
        return read(shard, [name, [of.meta, of.outbox, listOf(of)], args]);
      }),
    );
    const all: string[] = [];
    for (const [word, ids] of replies) {
      if (word !== 'OK' || !Array.isArray(ids)) return 'unavailable';
      for (const id of ids) all.push(String(id));
    }
    return all;
  }

  async #readStates(ids: readonly number[]): Promise<AgentState[] | Unavailable> {
    const states: AgentState[] = [];
    const sorted = ids.toSorted((a, b) => a - b);
    for (let at = 0; at < sorted.length; at += AGENTS_READ_AT_ONCE) {
      const some = sorted.slice(at, at + AGENTS_READ_AT_ONCE);
      for (const read of await Promise.all(some.map((agentId) => this.readState(agentId)))) {
        if (read === 'unavailable') return read;
        if (read !== null) states.push(read.state);
      }
    }
    return states;
  }

  async #isDurable(shard: number, place: unknown): Promise<boolean> {
    return (await this.#options.acknowledged(shard, String(place))) === 'durable';
  }
}

/** The fields of a hash, which HGETALL answers as names and values in turn. */
function fieldsOf(reply: unknown): Map<string, string> {
  const fields = new Map<string, string>();
  if (!Array.isArray(reply)) throw new Error('a script answered no hash');
  for (let i = 0; i < reply.length; i += 2) fields.set(String(reply[i]), String(reply[i + 1]));
  return fields;
}
