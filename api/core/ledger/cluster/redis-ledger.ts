import { type Clock, SECOND_MS, wait } from '../../clock.ts';
import { NotAskedError } from '../../drivers/redis-evaluator.ts';
import type { CallEnd } from '../../events/ledger-event.ts';
import type { Log } from '../../log.ts';
import type { VideoJob } from '../../videos/video-job.ts';
import type { Command, PutKey, Reserve, ResultOf, Settle } from '../command.ts';
import type {
  AgentSummary,
  AgentView,
  Durability,
  Executed,
  HoldView,
  KeyLookup,
  Ledger,
  Unavailable,
} from '../ledger.ts';
import { toAgentSummary, toAgentView, toHoldView } from '../machine/agent-view.ts';
import type { AgentState, KeyOwner } from '../machine/state.ts';
import { DispatchWait } from './dispatch-wait.ts';
import { parsePlace } from './place.ts';
import { type RedisAgent, toAgentState } from './redis-agent.ts';
import { toScriptCall } from './redis-commands.ts';
import { RedisKeyLookup } from './redis-key-lookup.ts';
import { ShardKeys } from './redis-keys.ts';
import { toResult } from './redis-results.ts';
import type { RedisScripts, ScriptArg, ScriptReply } from './redis-scripts.ts';
import { toOpenVideos, toVideoJob } from './redis-videos.ts';
import { shardOfAgent, shardOfKeyHash } from './shards.ts';
import { ShardsSeen, type ShardsSeenStats } from './shards-seen.ts';

/** Agents that are read from Redis at one time. */
const AGENTS_READ_AT_ONCE = 100;

export interface RedisLedgerOptions {
  scripts: RedisScripts;
  shards: number;
  clock: Clock;
  log: Log;
  /** Resolves once the log has all of the shard's events up to this place, `<epoch>-<seq>`. */
  acknowledged: (shard: number, place: string) => Promise<Durability>;
  /** Reports the time of a node's clock as it was a moment ago. */
  onNodeTime?: ((nodeMs: number) => void) | undefined;
}

export interface RedisLedger extends Ledger {
  /** What has to be settled in one shard, whether or not the others can be asked. */
  ofShard(shard: number): ShardLedger;
  /** Of one shard, whether or not the others can be asked. */
  listOpenVideosOf(shard: number): Promise<VideoJob[] | Unavailable>;
  /** Every agent of a shard, for an audit: each at one moment, and only as the log has it. */
  readShard(shard: number): Promise<AgentState[] | Unavailable>;
  /** Asks shards, so that `stats` stay true where nothing else asks. */
  lookAtShards(): Promise<void>;
  stats(): RedisLedgerStats;
}

export type ShardLedger = Pick<Ledger, 'execute' | 'readAgent' | 'listHolds' | 'listEnded'>;

export interface RedisLedgerStats extends ShardsSeenStats {
  /** Starts whose event the log did not have in time. */
  gateTimeouts: number;
  /** Starts whose provider was asked only after their acknowledgement, because the log was slow. */
  dispatchWaits: number;
  /** Starts that were refused because this process' clock and Redis' are too far apart. */
  clocksApart: number;
  /** Commands and reads that could not be answered. */
  unavailable: number;
}

/** The ledger that Redis decides, for any number of processes. */
export function createRedisLedger(options: RedisLedgerOptions): RedisLedger {
  return new ShardedLedger(options);
}

class ShardedLedger implements RedisLedger {
  readonly #options: RedisLedgerOptions;
  readonly #shards: readonly ShardKeys[];
  readonly #all: readonly number[];
  readonly #keys: RedisKeyLookup;
  readonly #seen: ShardsSeen;
  readonly #wait: DispatchWait;
  /** Of each shard, the newest that an answer came from. */
  readonly #epochs: number[] = [];
  #clocksApart = 0;
  #unavailable = 0;
  #closed = false;

  constructor(options: RedisLedgerOptions) {
    const { clock, shards } = options;
    this.#options = options;
    this.#shards = Array.from({ length: shards }, (_, shard) => new ShardKeys(shard));
    this.#all = [...this.#shards.keys()];
    this.#seen = new ShardsSeen(clock, shards);
    this.#wait = new DispatchWait(clock);
    this.#keys = new RedisKeyLookup({
      clock,
      shardOf: (hash) => shardOfKeyHash(hash, shards),
      read: (shard, call) => this.#read(shard, call),
      epochOf: (shard) => this.#epochs[shard] ?? 0,
    });
  }

  async execute<C extends Command>(command: C): Promise<Executed<ResultOf<C>>> {
    const shard = shardOfAgent(command.agentId, this.#options.shards);
    if (command.type === 'put_key') this.#requireOwnShard(command, shard);
    const { name, keys, args } = toScriptCall(command, this.#keysOf(shard));
    const { reply, mayBeDone, place } = await this.#ask(shard, [name, keys, args]);
    if (command.type === 'put_key') this.#keys.forget(command.hash);
    const result = toResult(command, reply);
    const durable = place === null ? DURABLE : this.#options.acknowledged(shard, place);
    if (command.type !== 'reserve') return { result, durable };
    if (!result.ok) {
      if (result.reason === 'clock_apart') this.#clocksApart++;
      if (mayBeDone) void this.#release(command);
      return { result, durable };
    }
    const lagMs = Number(reply[2]);
    this.#seen.noteLag(shard, lagMs);
    if ((await this.#wait.before(lagMs, durable)) === 'go') return { result, durable };
    this.#unavailable++;
    void this.#release(command);
    return UNAVAILABLE;
  }

  /**
   * Once more with the same id, where no answer came: a step answers its repetition. A refusal then says nothing about
   * the first time, because some come before the step looks for what it has done.
   */
  #ask(shard: number, call: ScriptRun): Promise<Asked> {
    const heard: Heard<Asked> = (reply, mayBeDone) => this.#heard(shard, reply, mayBeDone);
    return this.#closed ? Promise.resolve(heard(FENCED, false)) : this.#askTwice(call, heard);
  }

  #askTwice<T>(call: ScriptRun, heard: Heard<T>): Promise<T> {
    const { scripts } = this.#options;
    return scripts.run(...call).then(
      (reply) => heard(reply, false),
      async (error: unknown) => {
        if (saysNotDone(error)) return heard(FENCED, false);
        return heard(await scripts.run(...call).catch(() => FENCED), true);
      },
    );
  }

  #heard(shard: number, reply: ScriptReply, mayBeDone: boolean): Asked {
    const [word] = reply;
    this.#seen.noteOpen(shard, word !== 'FENCED');
    if (word === 'FENCED' || word === 'LAGS') this.#unavailable++;
    const place = placeOf(reply);
    if (place !== null) this.#epochs[shard] = Math.max(this.#epochs[shard] ?? 0, parsePlace(place).epoch);
    return { reply, mayBeDone, place };
  }

  /**
   * A start that nobody could be told of may stand all the same. Nothing runs for it, so it is ended, free of charge, as
   * soon as its shard answers; a process that dies before leaves it to the orphan rule.
   */
  async #release({ agentId, callId }: Reserve): Promise<void> {
    const settle: Settle = { type: 'settle', agentId, callId, costNanoUsd: 0n, end: NEVER_RAN, cause: 'end' };
    for (let waitMs = RELEASE_WAIT_MS; !this.#closed; waitMs = Math.min(2 * waitMs, RELEASE_WAIT_MAX_MS)) {
      await wait(this.#options.clock, waitMs);
      const { result, durable } = await this.execute(settle);
      const isAnswered = result.ok || result.reason !== 'unavailable';
      if (isAnswered && (await durable) === 'durable') return;
    }
    this.#options.log.warn('a start of unknown outcome was left to the orphan rule', { agentId, callId });
  }

  findKey(hashes: readonly string[]): Promise<KeyLookup> {
    return this.#keys.find(hashes);
  }

  recallKey(hashes: readonly string[]): KeyOwner | null {
    return this.#keys.recall(hashes);
  }

  async readAgent(agentId: number): Promise<AgentView | null | Unavailable> {
    const read = await this.#readState(agentId);
    return read === null || read === 'unavailable' ? read : toAgentView(read.state, read.nowMs);
  }

  async listAgents(): Promise<AgentSummary[] | Unavailable> {
    const ids = await this.#readIds(this.#all, 'list_agents', (shard) => shard.agents);
    const states = ids === 'unavailable' ? ids : await this.#readStates(ids.map(Number));
    return states === 'unavailable' ? states : states.map(toAgentSummary);
  }

  listEnded(byMs: number): Promise<number[] | Unavailable> {
    return this.#listEnded(this.#all, byMs);
  }

  listHolds(): Promise<HoldView[] | Unavailable> {
    return this.#listHolds(this.#all);
  }

  readVideo(agentId: number, videoId: string): Promise<VideoJob | null | Unavailable> {
    return this.#readVideo(agentId, [agentId, videoId]);
  }

  findVideoByKey(agentId: number, idempotencyKey: string): Promise<VideoJob | null | Unavailable> {
    return this.#readVideo(agentId, [agentId, '', idempotencyKey]);
  }

  async listOpenVideos(): Promise<VideoJob[] | Unavailable> {
    const lists = await Promise.all(this.#all.map((shard) => this.listOpenVideosOf(shard)));
    const jobs: VideoJob[] = [];
    for (const ofShard of lists) {
      if (ofShard === 'unavailable') return ofShard;
      for (const job of ofShard) jobs.push(job);
    }
    return jobs;
  }

  ofShard(shard: number): ShardLedger {
    const of = [shard];
    return {
      execute: (command) => this.execute(command),
      readAgent: (agentId) => this.readAgent(agentId),
      listHolds: () => this.#listHolds(of),
      listEnded: (byMs) => this.#listEnded(of, byMs),
    };
  }

  async readShard(shard: number): Promise<AgentState[] | Unavailable> {
    const ids = await this.#readIds([shard], 'list_agents', (of) => of.agents);
    return ids === 'unavailable' ? ids : this.#readStates(ids.map(Number));
  }

  async lookAtShards(): Promise<void> {
    const unsure = new Set([...this.#seen.notOpen(), ...this.#seen.ahead()]);
    await Promise.all(Array.from(unsure, (shard) => this.#look(shard)));
    // Without calls no answer tells that Redis is gone or that its clock has jumped, so one open shard is asked, and all shards
    // are asked again when it answers otherwise than before.
    const probe = this.#seen.nextOpen();
    if (probe === undefined || (await this.#look(probe)) === 'open') return;
    await Promise.all(this.#all.map((shard) => this.#look(shard)));
  }

  #look(shard: number): Promise<'open' | 'clock_jumped' | 'closed'> {
    const { meta, outbox } = this.#keysOf(shard);
    return this.#askTwice(['position', [meta, outbox], []], ([word, , , , , nodeMs, lastMs]) => {
      this.#seen.noteOpen(shard, word === 'OK');
      let hasJumped = false;
      if (nodeMs !== undefined) {
        hasJumped = this.#seen.noteTimes(shard, Number(nodeMs), Number(lastMs));
        this.#options.onNodeTime?.(Number(nodeMs));
      }
      if (word !== 'OK') return 'closed';
      return hasJumped ? 'clock_jumped' : 'open';
    });
  }

  stats(): RedisLedgerStats {
    const { gateTimeouts, dispatchWaits } = this.#wait;
    return {
      ...this.#seen.stats(),
      ...{ gateTimeouts, dispatchWaits, clocksApart: this.#clocksApart, unavailable: this.#unavailable },
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  async #listEnded(shards: readonly number[], byMs: number): Promise<number[] | Unavailable> {
    const ids = await this.#readIds(shards, 'list_ended', (shard) => shard.ends, [byMs]);
    return ids === 'unavailable' ? ids : ids.map(Number);
  }

  /** Of agents that have some, by the list that each shard keeps of its open calls. */
  async #listHolds(shards: readonly number[]): Promise<HoldView[] | Unavailable> {
    const names = await this.#readIds(shards, 'list_open', (shard) => shard.open);
    if (names === 'unavailable') return names;
    const ids = new Set(names.map((name) => Number.parseInt(name, 10)));
    const states = await this.#readStates([...ids]);
    if (states === 'unavailable') return states;
    return states.flatMap(({ agentId, holds }) =>
      Array.from(holds.values(), (hold) => toHoldView(agentId, hold)),
    );
  }

  /** What a list of each shard holds, as far as it is a list of agents or begins with one. */
  async #readIds(
    shards: readonly number[],
    name: 'list_agents' | 'list_ended' | 'list_open',
    listOf: (shard: ShardKeys) => string,
    args: readonly number[] = [],
  ): Promise<string[] | Unavailable> {
    const replies = await Promise.all(
      shards.map((shard) => {
        const of = this.#keysOf(shard);
        return this.#read(shard, [name, [of.meta, of.outbox, listOf(of)], args]);
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
      for (const read of await Promise.all(some.map((agentId) => this.#readState(agentId)))) {
        if (read === 'unavailable') return read;
        if (read !== null) states.push(read.state);
      }
    }
    return states;
  }

  /** Answers only with what the log has. */
  async #readState(agentId: number): Promise<{ state: AgentState; nowMs: number } | null | Unavailable> {
    const shard = shardOfAgent(agentId, this.#options.shards);
    const of = this.#keysOf(shard);
    const parts = ['', ':holds', ':ended', ':slots', ':keys', ':sources'] as const;
    const keys = [of.meta, of.outbox, ...parts.map((what) => of.agent(agentId, what))];
    const reply = await this.#read(shard, ['read_agent', keys, []]);
    const [word, place, nowMs, agent, holds, slots, ofKeys, sources] = reply;
    if (word === 'NONE') return null;
    if (word !== 'OK') return 'unavailable';
    if ((await this.#options.acknowledged(shard, String(place))) !== 'durable') return 'unavailable';
    const read: RedisAgent = {
      agent: fieldsOf(agent),
      holds: fieldsOf(holds),
      slots: new Map(Array.from(fieldsOf(slots), ([callId, endsAtMs]) => [Number(callId), Number(endsAtMs)])),
      keys: fieldsOf(ofKeys),
      sources: fieldsOf(sources),
    };
    return { state: toAgentState(agentId, read), nowMs: Number(nowMs) };
  }

  /** Asked by everybody who waits for a video: one script of two or three reads. */
  async #readVideo(agentId: number, args: readonly ScriptArg[]): Promise<VideoJob | null | Unavailable> {
    const shard = shardOfAgent(agentId, this.#options.shards);
    const of = this.#keysOf(shard);
    const keys = [of.meta, of.outbox, of.videos, of.agent(agentId, ':videos')];
    const [word, place, ...texts] = await this.#read(shard, ['read_video', keys, args]);
    if (word !== 'OK' && word !== 'NONE') return 'unavailable';
    if ((await this.#options.acknowledged(shard, String(place))) !== 'durable') return 'unavailable';
    const [order = '', claim = '', submitted = '', end = ''] = texts.map(String);
    return word === 'NONE' ? null : toVideoJob(order, claim, submitted, end);
  }

  async listOpenVideosOf(shard: number): Promise<VideoJob[] | Unavailable> {
    const of = this.#keysOf(shard);
    const [word, place, fields] = await this.#read(shard, [
      'list_videos',
      [of.meta, of.outbox, of.videos],
      [],
    ]);
    if (word !== 'OK') return 'unavailable';
    if ((await this.#options.acknowledged(shard, String(place))) !== 'durable') return 'unavailable';
    return toOpenVideos(fieldsOf(fields));
  }

  /** A read that fails is no answer, and is never taken for an empty one. */
  async #read(shard: number, call: ScriptRun): Promise<ScriptReply> {
    return (await this.#ask(shard, call)).reply;
  }

  /** A key in another shard than its agent's could not be made in one step with it: a bug of whoever drew it. */
  #requireOwnShard({ hash }: PutKey, shard: number): void {
    if (shardOfKeyHash(hash, this.#options.shards) !== shard) {
      throw new RangeError('the hash of this key falls into another shard than its agent');
    }
  }

  #keysOf(number: number): ShardKeys {
    const shard = this.#shards[number];
    if (shard === undefined) throw new Error(`no shard ${number}`);
    return shard;
  }
}

const RELEASE_WAIT_MS = SECOND_MS / 2;
const RELEASE_WAIT_MAX_MS = 30 * SECOND_MS;

const NEVER_RAN: CallEnd = {
  outcome: 'failed',
  httpStatus: 503,
  errorCode: 'service_unavailable',
  tokens: { prompt: 0, completion: 0, reasoning: null, cached: 0 },
  durationMs: 0,
};

/** What a node answers before it runs a script at all. */
const NOT_DONE = /^(OOM|LOADING|READONLY|NOREPLICAS|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|MISCONF)/;
const saysNotDone = (error: unknown): boolean =>
  error instanceof NotAskedError || (error instanceof Error && NOT_DONE.test(error.message));

type ScriptRun = Parameters<RedisScripts['run']>;

interface Asked {
  reply: ScriptReply;
  /** An earlier time was sent, and may have been done. */
  mayBeDone: boolean;
  place: string | null;
}

type Heard<T> = (reply: ScriptReply, mayBeDone: boolean) => T;

const FENCED: ScriptReply = ['FENCED'];
const DURABLE: Promise<Durability> = Promise.resolve('durable');
const UNAVAILABLE: Executed<never> = { result: { ok: false, reason: 'unavailable' }, durable: DURABLE };

const PLACE = /^\d+-\d+$/;

/** Of the latest event that an answer rests on; most refusals rest on none. */
function placeOf([, first]: ScriptReply): string | null {
  return typeof first === 'string' && PLACE.test(first) ? first : null;
}

/** What HGETALL answers: names and values by turns. */
function fieldsOf(reply: unknown): Map<string, string> {
  const fields = new Map<string, string>();
  if (!Array.isArray(reply)) throw new Error('a script answered no hash');
  for (let i = 0; i < reply.length; i += 2) fields.set(String(reply[i]), String(reply[i + 1]));
  return fields;
}
