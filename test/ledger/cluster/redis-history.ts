import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { DAY_MS } from '#core/clock.ts';
import type { RedisClient } from '#core/drivers/redis.ts';
import { decodeLedgerEvent } from '#core/events/ledger-event.ts';
import { toAgentState } from '#core/ledger/cluster/redis-agent.ts';
import { toScriptCall } from '#core/ledger/cluster/redis-commands.ts';
import { type AgentKey, ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import { toResult } from '#core/ledger/cluster/redis-results.ts';
import { toOpenVideos, toVideoJob } from '#core/ledger/cluster/redis-videos.ts';
import type { Command } from '#core/ledger/command.ts';
import { apply, applyUnjournaled } from '#core/ledger/machine/apply.ts';
import { decide } from '#core/ledger/machine/decide.ts';
import { emptyLedger } from '#core/ledger/machine/empty-ledger.ts';
import { newestVersion } from '#core/ledger/machine/key-versions.ts';
import { isKept } from '#core/ledger/machine/recently-settled.ts';
import type { AgentState, LedgerState } from '#core/ledger/machine/state.ts';
import { isVideoKept } from '#core/ledger/machine/video-table.ts';
import { openEmptyShard, scriptsAt } from '../../support/redis-ledger.ts';
import { type Coverage, observe } from '../history/coverage.ts';
import { BrokenPromise, show } from '../history/history.ts';
import { createDraw, type Draw, pick } from '../history/random.ts';
import { OPENING } from '../history/run-histories.ts';
import { drawProfile, drawStep } from '../history/step.ts';
import { StepWorld } from '../history/step-world.ts';

const STEPS = 40;

/** At one time, each in a shard of its own, so that their commands share round trips. */
const AT_ONCE = 64;

/** Runs histories `seed`, `seed + 1`, …; throws at the first difference, with the seed and its commands. */
export async function runRedisHistories(
  redis: RedisClient,
  seed: number,
  count: number,
  coverage: Coverage,
): Promise<void> {
  let next = seed;
  const runner = async () => {
    while (next < seed + count) await runRedisHistory(redis, next++, coverage);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, runner));
}

/**
 * One history through the state machine and through the scripts of one shard, which nothing else uses: every answer,
 * every event and every agent afterwards must be the same. Throws with the seed and the steps so far.
 */
async function runRedisHistory(redis: RedisClient, seed: number, coverage: Coverage): Promise<void> {
  const draw = createDraw(seed);
  const profile = drawProfile(draw);
  const world = new StepWorld(profile);
  const shard = new ShardKeys(seed);
  const state = emptyLedger();
  const commands: Command[] = [];
  let lastMs = 0;
  const scripts = scriptsAt(redis, () => lastMs);
  await openEmptyShard(scripts, shard);
  try {
    for (let i = 0; i < STEPS; i++) {
      const drawn = world.commandOf(OPENING[i] ?? drawStep(draw), state);
      if (drawn === null) continue;
      const command = restingOnKeys(drawn, state, draw);
      commands.push(command);
      lastMs = Math.max(lastMs, world.nowMs);
      await step(command, lastMs);
    }
  } catch (cause) {
    throw new Error(`history ${seed}:\n${commands.map(show).join('\n')}`, { cause });
  }

  async function step(command: Command, nowMs: number): Promise<void> {
    const decision = decide(state, command, nowMs);
    const { name, keys, args } = toScriptCall(command, shard);
    const reply = await scripts.run(name, keys, args);
    same('the answer', toResult(command, reply), decision.result);
    observe(coverage, command, decision, state, nowMs);
    const outbox = await redis.xrange(shard.outbox, '-', '+');
    const events = outbox.map(([, [, text = '']]) => decodeLedgerEvent(JSON.parse(text)));
    same('what is journaled', events, decision.events);
    for (const event of decision.events) apply(state, event);
    applyUnjournaled(state, decision);
    const last = outbox.at(-1)?.[0];
    if (last !== undefined)
      await scripts.run('ack', [shard.meta, shard.outbox], [...last.split('-'), '0', 0, 1]);
    const expected = state.agents.get(command.agentId);
    const actual = await readAgent(command.agentId, nowMs);
    same('the agent', actual, expected === undefined ? null : compared(expected, nowMs));
  }

  async function readAgent(agentId: number, nowMs: number): Promise<object | null> {
    const fields = async (what: AgentKey) =>
      new Map(Object.entries(await redis.hgetall(shard.agent(agentId, what))));
    const scores = async (what: AgentKey) => {
      const flat = await redis.zrange(shard.agent(agentId, what), '0', '-1', 'WITHSCORES');
      return new Map(flat.flatMap((name, i) => (i % 2 === 0 ? [[name, Number(flat[i + 1])] as const] : [])));
    };
    const [agent, holds, keys, sources, ended, trades] = await Promise.all([
      fields(''),
      fields(':holds'),
      fields(':keys'),
      fields(':sources'),
      fields(':ended'),
      fields(':trades'),
    ]);
    const [videos, stored, openVideos] = await Promise.all([
      fields(':videos'),
      fields(':stored'),
      redis.hgetall(shard.videos),
    ]);
    const [slots, grants, tradesUntil, uploads] = await Promise.all([
      scores(':slots'),
      scores(':grants'),
      scores(':trades-until'),
      scores(':uploads'),
    ]);
    if (agent.size === 0) return null;
    const leases = new Map(Array.from(slots, ([callId, endsAtMs]) => [Number(callId), endsAtMs]));
    const read = toAgentState(agentId, { agent, holds, slots: leases, keys, sources });
    for (const [callId, text] of ended) {
      const [charged = '', settledAt = '', nonce = ''] = text.split(' ');
      const done = {
        nonce: JSON.parse(nonce),
        chargedNanoUsd: BigInt(charged),
        settledAtMs: Number(settledAt),
      };
      read.done.set(Number(callId), done);
    }
    for (const [grantId, keptUntilMs] of grants) read.grants.set(JSON.parse(grantId), keptUntilMs);
    for (const [uploadId, startedAtMs] of uploads) read.uploads.set(JSON.parse(uploadId), startedAtMs);
    for (const [hourEndMs, bytes] of stored) read.stored.set(Number(hourEndMs), Number(bytes));
    for (const [videoId, end] of videos) {
      const [, id = null] = /^(.+):end$/.exec(videoId) ?? [];
      if (id === null) continue;
      const text = (what: string) => videos.get(`${id}${what}`) ?? '';
      read.videos.set(toVideoJob(text(''), text(':claim'), text(':submitted'), end));
    }
    for (const job of toOpenVideos(new Map(Object.entries(openVideos)))) {
      if (job.agentId === agentId) read.videos.set(job);
    }
    same('the number of open videos', Number(agent.get('open_videos') ?? 0), read.videos.open);
    for (const job of read.videos) {
      if (job.idempotencyKey === null || !isVideoKept(job, nowMs)) continue;
      same('the video of a key', videos.get(`key:${job.idempotencyKey}`), job.videoId);
    }
    for (const [name, text] of trades) {
      const [, way = '', tradeId = ''] = /^(in|out):(.*)$/s.exec(name) ?? [];
      const [result = '', expired = '', detail = ''] = text.split(' ');
      read.trades.set(`${way}:${JSON.parse(tradeId)}`, {
        keptUntilMs: tradesUntil.get(name) ?? 0,
        result: tradeResult.parse(result),
        expiredNanoUsd: BigInt(expired),
        detail,
      });
    }
    return compared(read, nowMs);
  }
}

/** Mostly on what stands, sometimes on an older state, sometimes on nothing. */
function restingOnKeys(command: Command, { agents }: LedgerState, draw: Draw): Command {
  if (!('readVersion' in command)) return command;
  const agent = agents.get(command.agentId);
  const versions = agent === undefined ? new Map<number, number>() : keyVersionsOf(agent);
  const version =
    command.type === 'put_key' ? newestVersion([...versions.values()]) : (versions.get(command.keyId) ?? 0);
  return { ...command, readVersion: pick(draw, [version, version, null, Math.max(0, version - 1)]) };
}

const keyVersionsOf = ({ keys, keyVersions }: AgentState): Map<number, number> =>
  new Map(Array.from(keys.keys(), (keyId) => [keyId, keyVersions.of(keyId)]));

const tradeResult = z.enum(['moved_out', 'move_refused', 'moved_in']);

/** Without what no longer counts, because each implementation clears that away in its own time. */
function compared(agent: AgentState, nowMs: number): object {
  const { done, grants, trades, leases, mcpKeysMadeAtMs, uploads, videos, stored, holds, ...others } = agent;
  const { prunedAtMs: _, ...rest } = others;
  return {
    ...rest,
    keyVersions: [...keyVersionsOf(agent)].sort(([a], [b]) => a - b),
    holds: [...holds].sort(([a], [b]) => a - b),
    videos: [...videos].filter((job) => isVideoKept(job, nowMs)).sort((a, b) => a.callId - b.callId),
    stored: [...stored].filter(([hourEndMs]) => hourEndMs > nowMs).sort(([a], [b]) => a - b),
    done: [...done].filter(([, call]) => isKept(call, nowMs)).sort(([a], [b]) => a - b),
    grants: new Map([...grants].filter(([, untilMs]) => untilMs > nowMs)),
    trades: new Map([...trades].filter(([, trade]) => trade.keptUntilMs > nowMs)),
    leases: new Map([...leases].filter(([, endsAtMs]) => endsAtMs > nowMs)),
    mcpKeysMadeAtMs: mcpKeysMadeAtMs.filter((madeAtMs) => madeAtMs > nowMs - DAY_MS),
    uploads: new Map([...uploads].filter(([, startedAtMs]) => startedAtMs > nowMs - DAY_MS)),
  };
}

function same(what: string, actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new BrokenPromise(`${what} is ${show(plain(actual))}, not ${show(plain(expected))}`);
}

/** Maps print as nothing otherwise. */
function plain(value: unknown): unknown {
  if (value instanceof Map) return [...value].map(plain);
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, plain(of)]));
}
