import { type Clock, SECOND_MS } from '../../clock.ts';
import type { CallEnd } from '../../events/ledger-event.ts';
import type { Log } from '../../log.ts';
import { toAgentSummary, toAgentView, toHoldView } from '../agent-view.ts';
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
import type { AgentState } from '../state.ts';
import { type RedisAgent, toAgentState } from './redis-agent.ts';
import { toScriptCall } from './redis-commands.ts';
import { ShardKeys } from './redis-keys.ts';
import { toResult } from './redis-results.ts';
import type { RedisScripts, ScriptReply } from './redis-scripts.ts';
import { shardOfAgent, shardOfKeyHash } from './shards.ts';

export interface RedisLedgerOptions {
  scripts: RedisScripts;
  shards: number;
  clock: Clock;
  log: Log;
  /** Resolves once the log has all of the shard's events up to this place, `<epoch>-<seq>`. */
  acknowledged: (shard: number, place: string) => Promise<Durability>;
}

/** The ledger that Redis decides, for any number of processes. */
export function createRedisLedger(options: RedisLedgerOptions): Ledger {
  return new RedisLedger(options);
}

class RedisLedger implements Ledger {
  readonly #options: RedisLedgerOptions;
  readonly #shards: readonly ShardKeys[];
  #closed = false;

  constructor(options: RedisLedgerOptions) {
    this.#options = options;
    this.#shards = Array.from({ length: options.shards }, (_, shard) => new ShardKeys(shard));
  }

  async execute<C extends Command>(command: C): Promise<Executed<ResultOf<C>>> {
    const number = shardOfAgent(command.agentId, this.#options.shards);
    if (command.type === 'put_key') this.#requireOwnShard(command, number);
    const { name, keys, args } = toScriptCall(command, this.#shard(number));
    const { reply, mayBeDone } = this.#closed ? NOTHING : await this.#ask(name, keys, args);
    const result = toResult(command, reply);
    if (command.type === 'reserve' && mayBeDone && !result.ok) void this.#release(command);
    const place = placeOf(reply);
    const durable = place === null ? DURABLE : this.#options.acknowledged(number, place);
    return { result, durable };
  }

  /**
   * Once more with the same id, where no answer came: a step answers its repetition. A refusal then says nothing about
   * the first time, because some come before the step looks for what it has done.
   */
  async #ask(...call: Parameters<RedisScripts['run']>): Promise<Asked> {
    try {
      return { reply: await this.#run(...call), mayBeDone: false };
    } catch (error) {
      if (saysNotDone(error)) return NOTHING;
    }
    try {
      return { reply: await this.#run(...call), mayBeDone: true };
    } catch {
      return { reply: FENCED, mayBeDone: true };
    }
  }

  /**
   * A start that nobody could be told of may stand all the same. Nothing runs for it, so it is ended, free of charge, as
   * soon as its shard answers; a process that dies before leaves it to the orphan rule.
   */
  async #release({ agentId, callId }: Reserve): Promise<void> {
    const settle: Settle = { type: 'settle', agentId, callId, costNanoUsd: 0n, end: NEVER_RAN, cause: 'end' };
    for (let waitMs = RELEASE_WAIT_MS; !this.#closed; waitMs = Math.min(2 * waitMs, RELEASE_WAIT_MAX_MS)) {
      await new Promise<void>((resolve) => this.#options.clock.setTimer(waitMs, resolve));
      const { result, durable } = await this.execute(settle);
      const over = result.ok ? (await durable) === 'durable' : result.reason !== 'unavailable';
      if (over) return;
    }
    this.#options.log.warn('a start of unknown outcome was left to the orphan rule', { agentId, callId });
  }

  async findKey(hashes: readonly string[]): Promise<KeyLookup> {
    if (this.#closed) return 'unavailable';
    for (const hash of hashes) {
      const shard = this.#shard(shardOfKeyHash(hash, this.#options.shards));
      const found = await this.#read('find_key', [shard.meta, shard.outbox, shard.keyHashes], [hash]);
      if (found[0] !== 'OK') return 'unavailable';
      const [agentId, keyId] = String(found[1]).split(':').map(Number);
      if (agentId === undefined || keyId === undefined) continue;
      const keys = [shard.meta, shard.outbox, shard.agent(agentId), shard.agent(agentId, ':keys')];
      const [word, live, status] = await this.#read('key_status', keys, [keyId]);
      if (word !== 'OK') return 'unavailable';
      const agentStatus = status === 'active' || status === 'suspended' ? status : 'inactive';
      return { found: true, agentId, keyId, revoked: live === 'revoked', agentStatus };
    }
    return { found: false };
  }

  async readAgent(agentId: number): Promise<AgentView | null | Unavailable> {
    const read = await this.#readState(agentId);
    return read === null || read === 'unavailable' ? read : toAgentView(read.state, read.nowMs);
  }

  async listAgents(): Promise<AgentSummary[] | Unavailable> {
    const states = await this.#readStates();
    return states === 'unavailable' ? states : states.map(toAgentSummary);
  }

  async listHolds(): Promise<HoldView[] | Unavailable> {
    const states = await this.#readStates();
    if (states === 'unavailable') return states;
    return states.flatMap((agent) =>
      [...agent.holds.values()].map((hold) => toHoldView(agent.agentId, hold)),
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  async #readStates(): Promise<AgentState[] | Unavailable> {
    const states: AgentState[] = [];
    for (const shard of this.#shards) {
      if (this.#closed) return 'unavailable';
      const [word, ids] = await this.#read('list_agents', [shard.meta, shard.outbox, shard.agents], []);
      if (word !== 'OK' || !Array.isArray(ids)) return 'unavailable';
      for (const agentId of ids.map(Number).sort((a, b) => a - b)) {
        const read = await this.#readState(agentId);
        if (read === 'unavailable') return read;
        if (read !== null) states.push(read.state);
      }
    }
    return states;
  }

  /** Answers only with what the log has. */
  async #readState(agentId: number): Promise<{ state: AgentState; nowMs: number } | null | Unavailable> {
    if (this.#closed) return 'unavailable';
    const number = shardOfAgent(agentId, this.#options.shards);
    const shard = this.#shard(number);
    const parts = ['', ':holds', ':ended', ':slots', ':keys', ':sources'] as const;
    const keys = [shard.meta, shard.outbox, ...parts.map((what) => shard.agent(agentId, what))];
    const reply = await this.#read('read_agent', keys, []);
    const [word, place, nowMs, agent, holds, slots, ofKeys, sources] = reply;
    if (word === 'NONE') return null;
    if (word !== 'OK') return 'unavailable';
    if ((await this.#options.acknowledged(number, String(place))) !== 'durable') return 'unavailable';
    const read: RedisAgent = {
      agent: fieldsOf(agent),
      holds: fieldsOf(holds),
      slots: new Map(Array.from(fieldsOf(slots), ([callId, endsAtMs]) => [Number(callId), Number(endsAtMs)])),
      keys: fieldsOf(ofKeys),
      sources: fieldsOf(sources),
    };
    return { state: toAgentState(agentId, read), nowMs: Number(nowMs) };
  }

  #run(...call: Parameters<RedisScripts['run']>): Promise<ScriptReply> {
    return this.#options.scripts.run(...call);
  }

  /** A read that fails is no answer, and is never taken for an empty one. */
  async #read(...call: Parameters<RedisScripts['run']>): Promise<ScriptReply> {
    return (await this.#ask(...call)).reply;
  }

  /** A key in another shard than its agent's could not be made in one step with it: a bug of whoever drew it. */
  #requireOwnShard({ hash }: PutKey, shard: number): void {
    if (hash !== null && shardOfKeyHash(hash, this.#options.shards) !== shard) {
      throw new RangeError('the hash of this key falls into another shard than its agent');
    }
  }

  #shard(number: number): ShardKeys {
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
const saysNotDone = (error: unknown): boolean => error instanceof Error && NOT_DONE.test(error.message);

interface Asked {
  reply: ScriptReply;
  /** An earlier time was sent, and may have been done. */
  mayBeDone: boolean;
}

const FENCED: ScriptReply = ['FENCED'];
const NOTHING: Asked = { reply: FENCED, mayBeDone: false };
const DURABLE: Promise<Durability> = Promise.resolve('durable');

const PLACE = /^\d+-\d+$/;

/** Of the latest event that an answer rests on; a refusal rests on none. */
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
