import { type Clock, SECOND_MS, wait } from '../../clock.ts';
import { NotAskedError } from '../../drivers/redis-evaluator.ts';
import type { CallEnd } from '../../events/ledger-event.ts';
import { END_AGAIN_MAX_MS } from '../../limits.ts';
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
import { toAgentSummary, toAgentView } from '../machine/agent-view.ts';
import type { AgentState, KeyOwner } from '../machine/state.ts';
import { DispatchWait } from './dispatch-wait.ts';
import { parsePlace } from './place.ts';
import { toScriptCall } from './redis-commands.ts';
import { RedisKeyLookup } from './redis-key-lookup.ts';
import { ShardKeys } from './redis-keys.ts';
import { RedisReads } from './redis-reads.ts';
import { toResult } from './redis-results.ts';
import type { RedisScripts, ScriptReply, ScriptRun } from './redis-scripts.ts';
import { shardOfAgent, shardOfKeyHash } from './shards.ts';
import { ShardsSeen, type ShardsSeenStats } from './shards-seen.ts';

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
  readonly #reads: RedisReads;
  readonly #seen: ShardsSeen;
  readonly #wait: DispatchWait;
  /** Of each shard, the newest that an answer came from. */
  readonly #epochs: number[] = [];
  #clocksApart = 0;
  #unavailable = 0;
  #closed = false;

  constructor(options: RedisLedgerOptions) {
    const { clock, shards, acknowledged } = options;
    this.#options = options;
    this.#shards = Array.from({ length: shards }, (_, shard) => new ShardKeys(shard));
    this.#all = [...this.#shards.keys()];
    this.#seen = new ShardsSeen(clock, shards);
    this.#wait = new DispatchWait(clock);
    const read = async (shard: number, call: ScriptRun) => (await this.#ask(shard, call)).reply;
    this.#reads = new RedisReads({ shards, keysOf: (shard) => this.#keysOf(shard), read, acknowledged });
    this.#keys = new RedisKeyLookup({
      clock,
      shardOf: (hash) => shardOfKeyHash(hash, shards),
      read,
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

  async #ask(shard: number, call: ScriptRun): Promise<Asked> {
    const { reply, mayBeDone } = this.#closed ? NOT_ASKED : await this.#runTwice(call);
    const [word] = reply;
    this.#seen.noteOpen(shard, word !== 'FENCED');
    if (word === 'FENCED' || word === 'LAGS') this.#unavailable++;
    const place = placeOf(reply);
    if (place !== null) this.#epochs[shard] = Math.max(this.#epochs[shard] ?? 0, parsePlace(place).epoch);
    return { reply, mayBeDone, place };
  }

  /**
   * Runs a script once more with the same id if no answer came: a step answers its repetition. A refusal then says nothing
   * about the first time, because some come before the step looks for what it has done.
   */
  async #runTwice(call: ScriptRun): Promise<Omit<Asked, 'place'>> {
    const { scripts } = this.#options;
    try {
      return { reply: await scripts.run(...call), mayBeDone: false };
    } catch (error) {
      if (saysNotDone(error)) return NOT_ASKED;
      return { reply: await scripts.run(...call).catch(() => FENCED), mayBeDone: true };
    }
  }

  /**
   * A start that nobody could be told of may stand all the same. Nothing runs for it, so it is ended, free of charge, as
   * soon as its shard answers; a process that dies before leaves it to the orphan rule.
   */
  async #release({ agentId, callId }: Reserve): Promise<void> {
    const settle: Settle = { type: 'settle', agentId, callId, costNanoUsd: 0n, end: NEVER_RAN, cause: 'end' };
    for (let waitMs = RELEASE_WAIT_MS; !this.#closed; waitMs = Math.min(2 * waitMs, END_AGAIN_MAX_MS)) {
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
    const read = await this.#reads.readState(agentId);
    return read === null || read === 'unavailable' ? read : toAgentView(read.state, read.nowMs);
  }

  async listAgents(): Promise<AgentSummary[] | Unavailable> {
    const states = await this.#reads.listStates(this.#all);
    return states === 'unavailable' ? states : states.map(toAgentSummary);
  }

  listEnded(byMs: number): Promise<number[] | Unavailable> {
    return this.#reads.listEnded(this.#all, byMs);
  }

  listHolds(): Promise<HoldView[] | Unavailable> {
    return this.#reads.listHolds(this.#all);
  }

  readVideo(agentId: number, videoId: string): Promise<VideoJob | null | Unavailable> {
    return this.#reads.readVideo(agentId, [videoId]);
  }

  findVideoByKey(agentId: number, idempotencyKey: string): Promise<VideoJob | null | Unavailable> {
    return this.#reads.readVideo(agentId, ['', idempotencyKey]);
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

  listOpenVideosOf(shard: number): Promise<VideoJob[] | Unavailable> {
    return this.#reads.listOpenVideos(shard);
  }

  ofShard(shard: number): ShardLedger {
    return {
      execute: (command) => this.execute(command),
      readAgent: (agentId) => this.readAgent(agentId),
      listHolds: () => this.#reads.listHolds([shard]),
      listEnded: (byMs) => this.#reads.listEnded([shard], byMs),
    };
  }

  readShard(shard: number): Promise<AgentState[] | Unavailable> {
    return this.#reads.listStates([shard]);
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

  async #look(shard: number): Promise<'open' | 'clock_jumped' | 'closed'> {
    const { meta, outbox } = this.#keysOf(shard);
    const { reply } = await this.#runTwice(['position', [meta, outbox], []]);
    const [word, , , , , nodeMs, lastMs] = reply;
    this.#seen.noteOpen(shard, word === 'OK');
    let hasJumped = false;
    if (nodeMs !== undefined) {
      hasJumped = this.#seen.noteTimes(shard, Number(nodeMs), Number(lastMs));
      this.#options.onNodeTime?.(Number(nodeMs));
    }
    if (word !== 'OK') return 'closed';
    return hasJumped ? 'clock_jumped' : 'open';
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

interface Asked {
  reply: ScriptReply;
  /** An earlier time was sent, and may have been done. */
  mayBeDone: boolean;
  place: string | null;
}

const FENCED: ScriptReply = ['FENCED'];
const NOT_ASKED = { reply: FENCED, mayBeDone: false };
const DURABLE: Promise<Durability> = Promise.resolve('durable');
const UNAVAILABLE: Executed<never> = { result: { ok: false, reason: 'unavailable' }, durable: DURABLE };

const PLACE = /^\d+-\d+$/;

/** Of the latest event that an answer rests on; most refusals rest on none. */
function placeOf([, first]: ScriptReply): string | null {
  return typeof first === 'string' && PLACE.test(first) ? first : null;
}
