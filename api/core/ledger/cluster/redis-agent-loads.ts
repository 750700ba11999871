import { ORPHAN_MARGIN_MS } from '../../limits.ts';
import { agentStatus } from '../machine/agent-status.ts';
import { newestKeyVersion } from '../machine/key-versions.ts';
import type { AgentState, Hold, KeyState, PeriodSum } from '../machine/state.ts';
import { type AgentKey, agentKeyNames, type ShardKeys } from './redis-keys.ts';
import type { ScriptArg } from './redis-scripts.ts';
import { videoFields } from './redis-videos.ts';

/** One filling of one key. */
export interface RedisLoad {
  key: string;
  command: 'HSET' | 'ZADD' | 'SADD';
  values: ScriptArg[];
}

export const agentKeys = (keys: ShardKeys, agentId: number): string[] =>
  agentKeyNames.map((part) => keys.agent(agentId, part));

/** Values of one load: Lua unpacks them onto its stack. An even number, because they come in pairs. */
const VALUES_AT_ONCE = 1_000;

/** An agent as the scripts keep it: what `toAgentState` reads, and what makes repeated commands known. */
export function agentLoads(keys: ShardKeys, agent: AgentState): RedisLoad[] {
  const { agentId } = agent;
  const of = (part: AgentKey) => keys.agent(agentId, part);
  const holds = [...agent.holds.values()];
  const owned = [...agent.keys.values()];
  const all: RedisLoad[] = [
    { key: keys.agents, command: 'SADD', values: [agentId] },
    hset(of(''), agentFields(agent)),
    hset(of(':sources'), sourceFields(agent)),
    hset(of(':holds'), holds.flatMap(holdFields)),
    zadd(keys.open, holds, (hold) => [dueMs(hold), `${agentId}:${hold.callId}`]),
    zadd(keys.ends, agent.lots.slice(0, 1), ({ expiresAtMs }) => [expiresAtMs, agentId]),
    zadd(of(':slots'), [...agent.leases], ([callId, endsAtMs]) => [endsAtMs, callId]),
    hset(
      of(':keys'),
      owned.flatMap((key) => keyFields(key, agent.keyVersions.of(key.keyId))),
    ),
    hset(
      keys.keyHashes,
      owned.flatMap((key) => [key.hash, `${agentId}:${key.keyId}`]),
    ),
    zadd(of(':grants'), [...agent.grants], ([id, untilMs]) => [untilMs, JSON.stringify(id)]),
    zadd(of(':uploads'), [...agent.uploads], ([id, startedAtMs]) => [startedAtMs, JSON.stringify(id)]),
    ...videoLoads(keys, of, agent),
    hset(of(':stored'), [...agent.stored].flat()),
    ...endedLoads(of, agent),
    ...tradeLoads(of, agent),
  ];
  return all.flatMap((load) => [...split(load)]);
}

const hset = (key: string, values: ScriptArg[]): RedisLoad => ({ key, command: 'HSET', values });

/** `entry` makes a score and its member. */
const zadd = <T>(key: string, all: readonly T[], entry: (each: T) => ScriptArg[]): RedisLoad => ({
  key,
  command: 'ZADD',
  values: all.flatMap(entry),
});

function* split({ key, command, values }: RedisLoad): Generator<RedisLoad> {
  for (let at = 0; at < values.length; at += VALUES_AT_ONCE) {
    yield { key, command, values: values.slice(at, at + VALUES_AT_ONCE) };
  }
}

function agentFields(agent: AgentState): ScriptArg[] {
  const { chargedToday } = agent;
  const active = [...agent.keys.values()].filter((key) => key.revokedAtMs === null).length;
  const fields: [string, ScriptArg][] = [
    ['version', agent.version],
    ['name', JSON.stringify(agent.name)],
    ['token', JSON.stringify(agent.token)],
    ['created', agent.createdAtMs],
    ['status', agentStatus(agent)],
    ['tat_us', agent.startsTatUs],
    ['lots', agent.lots.map((lot) => `${lot.expiresAtMs}:${lot.freeNanoUsd}:${lot.heldNanoUsd}`).join(' ')],
    ['granted', String(agent.grantedNanoUsd)],
    ['charged', String(agent.chargedNanoUsd)],
    ['expired', String(agent.expiredNanoUsd)],
    ['moved_in', String(agent.movedInNanoUsd)],
    ['moved_out', String(agent.movedOutNanoUsd)],
    ['active_keys', active],
    ['keys_version', newestKeyVersion(agent)],
    ['mcp_keys', agent.mcpKeysMadeAtMs.join(' ')],
    ['charged_day', periodText(chargedToday)],
    ['open_videos', agent.videos.open],
  ];
  return fields.flat();
}

const sourceFields = (agent: AgentState): ScriptArg[] =>
  Array.from(agent.statusBySource, ([source, said]) => [
    JSON.stringify(source),
    `${said.sourceVersion} ${said.status}`,
  ]).flat();

function holdFields(hold: Hold): ScriptArg[] {
  const { callId, allocations } = hold;
  const taken = allocations.map(({ expiresAtMs, nanoUsd }) => `${expiresAtMs}:${nanoUsd}`).join(',');
  const text = [
    hold.keyId,
    hold.kind,
    hold.nanoUsd,
    hold.startedAtMs,
    hold.timeLimitMs,
    taken === '' ? '-' : taken,
    JSON.stringify(hold.nonce),
  ].join(' ');
  const fields: ScriptArg[] = [callId, text];
  fields.push(`${callId}:call`, JSON.stringify(hold.call), `${callId}:price`, JSON.stringify(hold.price));
  if (hold.generationId !== null) fields.push(`${callId}:generation`, JSON.stringify(hold.generationId));
  if (hold.pending !== null) fields.push(`${callId}:pending`, JSON.stringify(hold.pending));
  if (hold.videoId !== null) fields.push(`${callId}:video`, hold.videoId);
  return fields;
}

const dueMs = (hold: Hold): number => hold.startedAtMs + hold.timeLimitMs + ORPHAN_MARGIN_MS;

function keyFields(key: KeyState, version: number): ScriptArg[] {
  const of = (what: string) => `${key.keyId}:${what}`;
  const fields: ScriptArg[] = [
    ...[of('version'), version, of('label'), JSON.stringify(key.label)],
    ...[of('prefix'), JSON.stringify(key.prefix)],
    ...[of('hash'), key.hash, of('created'), key.createdAtMs, of('by'), key.createdByKeyId ?? 'null'],
    ...[of('held'), String(key.heldNanoUsd), of('day'), periodText(key.spent.day)],
    ...[of('week'), periodText(key.spent.week), of('month'), periodText(key.spent.month)],
  ];
  if (key.revokedAtMs !== null) fields.push(of('revoked'), key.revokedAtMs);
  if (key.lastUsedAtMs !== null) fields.push(of('used'), key.lastUsedAtMs);
  if (key.limit !== null)
    fields.push(of('limit'), String(key.limit.limitNanoUsd), of('reset'), key.limit.reset);
  return fields;
}

const periodText = ({ periodStartMs, nanoUsd }: PeriodSum): string => `${periodStartMs}:${nanoUsd}`;

function videoLoads(keys: ShardKeys, of: (part: AgentKey) => string, agent: AgentState): RedisLoad[] {
  const jobs = [...agent.videos];
  const open = jobs.filter(({ end }) => end === null);
  return [
    hset(
      keys.videos,
      open.flatMap((job) => videoFields(`${agent.agentId}:${job.videoId}`, job)),
    ),
    hset(
      of(':videos'),
      jobs.flatMap((job) => (job.end === null ? [] : videoFields(job.videoId, job))),
    ),
    // The newest of a key comes last.
    hset(
      of(':videos'),
      jobs.flatMap(({ idempotencyKey, videoId }) =>
        idempotencyKey === null ? [] : [`key:${idempotencyKey}`, videoId],
      ),
    ),
    zadd(of(':videos-ended'), jobs, ({ end, videoId }) => (end === null ? [] : [end.atMs, videoId])),
  ];
}

function endedLoads(of: (part: AgentKey) => string, agent: AgentState): RedisLoad[] {
  const ended = [...agent.done];
  return [
    hset(
      of(':ended'),
      ended.flatMap(([callId, { nonce, chargedNanoUsd, settledAtMs }]) => [
        callId,
        `${chargedNanoUsd} ${settledAtMs} ${JSON.stringify(nonce)}`,
      ]),
    ),
    zadd(of(':ended-at'), ended, ([callId, { settledAtMs }]) => [settledAtMs, callId]),
  ];
}

function tradeLoads(of: (part: AgentKey) => string, agent: AgentState): RedisLoad[] {
  const trades = Array.from(agent.trades, ([name, trade]) => {
    const [, way = '', tradeId = ''] = /^(in|out):(.*)$/s.exec(name) ?? [];
    return { name: `${way}:${JSON.stringify(tradeId)}`, ...trade };
  });
  return [
    hset(
      of(':trades'),
      trades.flatMap(({ name, result, expiredNanoUsd, detail }) => [
        name,
        `${result} ${expiredNanoUsd} ${detail}`,
      ]),
    ),
    zadd(of(':trades-until'), trades, ({ name, keptUntilMs }) => [keptUntilMs, name]),
  ];
}
