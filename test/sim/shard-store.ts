import { z } from 'zod';
import { idTimeMs } from '#core/ids.ts';
import { toAgentState } from '#core/ledger/cluster/redis-agent.ts';
import { agentLoads } from '#core/ledger/cluster/redis-agent-loads.ts';
import type { agentKeyNames, ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import { toOpenVideos, toVideoJob } from '#core/ledger/cluster/redis-videos.ts';
import { addAgent, emptyLedger } from '#core/ledger/machine/empty-ledger.ts';
import { GivenUpCalls } from '#core/ledger/machine/given-up-calls.ts';
import type { AgentState, LedgerState } from '#core/ledger/machine/state.ts';
import type { VideoJob } from '#core/videos/video-job.ts';

/** Fields of a hash, members of a sorted set with their scores, members of a set. */
export type RedisKey = Map<string, string>;
export type RedisKeys = Map<string, RedisKey>;

export interface ShardMeta {
  fence: string | null;
  epoch: number;
  seq: number;
  acked: number;
  lastMs: number;
  offset: string;
  nonce: string;
  outboxBytes: number;
  openedMs: number;
  claim: string | null;
  claimedBy: string | null;
  lease: string | null;
  leaseUntilMs: number;
}

export interface OutboxEntry {
  epoch: number;
  seq: number;
  text: string;
  atMs: number;
}

const emptyMeta = (): ShardMeta => ({
  fence: null,
  epoch: 0,
  seq: 0,
  acked: 0,
  lastMs: 0,
  offset: '0',
  nonce: '',
  outboxBytes: 0,
  openedMs: 0,
  claim: null,
  claimedBy: null,
  lease: null,
  leaseUntilMs: 0,
});

/**
 * What one Redis has of one shard. Its agents are a state of the state machine while the shard decides, and Redis' own
 * hashes while it is being rebuilt: each is made of the other when it is asked for, by the product's own code.
 */
export class ShardStore {
  readonly keys: ShardKeys;
  meta: ShardMeta = emptyMeta();
  outbox: OutboxEntry[] = [];
  #state: LedgerState | null = emptyLedger();
  #raw: RedisKeys | null = null;

  constructor(keys: ShardKeys) {
    this.keys = keys;
  }

  get state(): LedgerState {
    this.#state ??= toLedgerState(this.keys, this.raw);
    this.#raw = null;
    return this.#state;
  }

  get raw(): RedisKeys {
    if (this.#raw === null && this.#state !== null) this.#raw = toRedisKeys(this.keys, this.#state);
    this.#state = null;
    this.#raw ??= new Map();
    return this.#raw;
  }

  flush(): void {
    this.meta = emptyMeta();
    this.outbox = [];
    this.#state = emptyLedger();
    this.#raw = null;
  }

  restore(from: ShardStore): void {
    const copy = from.copy();
    this.meta = copy.meta;
    this.outbox = copy.outbox;
    this.#state = null;
    this.#raw = copy.raw;
  }

  /** As it is now, in another node or in a file. */
  copy(): ShardStore {
    const copy = new ShardStore(this.keys);
    copy.meta = { ...this.meta };
    copy.outbox = [...this.outbox];
    const raw = this.#state === null ? this.raw : toRedisKeys(this.keys, this.#state);
    copy.#state = null;
    copy.#raw = new Map(Array.from(raw, ([name, key]) => [name, new Map(key)]));
    return copy;
  }
}

/** Flat, as Redis answers and takes it. */
export function toRedisKeys(keys: ShardKeys, state: LedgerState): RedisKeys {
  const raw: RedisKeys = new Map();
  for (const agent of state.agents.values()) {
    for (const load of agentLoads(keys, agent)) fill(raw, load.key, load.command, load.values.map(String));
    const marks = agent.givenUp.ids.flatMap((callId) => [String(idTimeMs(callId)), String(callId)]);
    if (marks.length > 0) fill(raw, keys.givenUp(agent.agentId), 'ZADD', marks);
  }
  return raw;
}

export function fill(raw: RedisKeys, key: string, command: string, values: readonly string[]): void {
  const into = raw.get(key) ?? new Map<string, string>();
  raw.set(key, into);
  if (command === 'SADD') for (const member of values) into.set(member, '');
  else {
    for (let i = 0; i < values.length; i += 2) {
      const [first = '', second = ''] = [values[i], values[i + 1]];
      if (command === 'ZADD') into.set(second, first);
      else into.set(first, second);
    }
  }
}

const NONE: RedisKey = new Map();

function toLedgerState(keys: ShardKeys, raw: RedisKeys): LedgerState {
  const state = emptyLedger();
  for (const id of raw.get(keys.agents)?.keys() ?? []) addAgent(state, toAgent(keys, Number(id), raw));
  return state;
}

function toAgent(keys: ShardKeys, agentId: number, raw: RedisKeys): AgentState {
  const of = (part: (typeof agentKeyNames)[number]): RedisKey => raw.get(keys.agent(agentId, part)) ?? NONE;
  const slots = new Map(Array.from(of(':slots'), ([callId, endsAtMs]) => [Number(callId), Number(endsAtMs)]));
  const read = { agent: of(''), holds: of(':holds'), slots, keys: of(':keys'), sources: of(':sources') };
  const agent = toAgentState(agentId, read);
  const ended = Array.from(of(':ended'), ([callId, text]) => {
    const [, charged = '', settledAt = '', nonce = ''] = /^(\d+) (\d+) (.+)$/s.exec(text) ?? [];
    const done = {
      nonce: z.string().parse(JSON.parse(nonce)),
      chargedNanoUsd: BigInt(charged),
      settledAtMs: Number(settledAt),
    };
    return [Number(callId), done] as const;
  });
  // In the order of the settlements, which a hash does not keep.
  ended.sort(([, a], [, b]) => a.settledAtMs - b.settledAtMs);
  for (const [callId, done] of ended) agent.done.set(callId, done);
  const marks = Array.from(raw.get(keys.givenUp(agentId))?.keys() ?? [], Number).sort((a, b) => a - b);
  agent.givenUp = new GivenUpCalls(marks);
  for (const [grantId, untilMs] of of(':grants')) {
    agent.grants.set(z.string().parse(JSON.parse(grantId)), Number(untilMs));
  }
  for (const [uploadId, startedAtMs] of of(':uploads')) {
    agent.uploads.set(z.string().parse(JSON.parse(uploadId)), Number(startedAtMs));
  }
  for (const [hourEndMs, bytes] of of(':stored')) agent.stored.set(Number(hourEndMs), Number(bytes));
  for (const job of toVideos(of(':videos'), raw.get(keys.videos) ?? NONE, agentId)) agent.videos.set(job);
  for (const [name, text] of of(':trades')) {
    const [, way = '', tradeId = ''] = /^(in|out):(.*)$/s.exec(name) ?? [];
    const [result = '', expired = '', detail = ''] = text.split(' ');
    agent.trades.set(`${way}:${z.string().parse(JSON.parse(tradeId))}`, {
      keptUntilMs: Number(of(':trades-until').get(name)),
      result: tradeResult.parse(result),
      expiredNanoUsd: BigInt(expired),
      detail,
    });
  }
  return agent;
}

/** In the order of their ends, which a hash does not keep. */
function toVideos(ended: RedisKey, open: RedisKey, agentId: number): VideoJob[] {
  const jobs = [...ended.keys()].flatMap((name) => {
    const [, videoId = null] = /^(.+):end$/.exec(name) ?? [];
    if (videoId === null) return [];
    const text = (what: string): string => ended.get(`${videoId}${what}`) ?? '';
    return [toVideoJob(text(''), text(':claim'), text(':submitted'), text(':end'))];
  });
  jobs.sort((a, b) => (a.end?.atMs ?? 0) - (b.end?.atMs ?? 0));
  return [...jobs, ...toOpenVideos(open).filter((job) => job.agentId === agentId)];
}

const tradeResult = z.enum(['moved_out', 'move_refused', 'moved_in']);
