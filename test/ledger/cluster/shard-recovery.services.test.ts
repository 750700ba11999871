import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { eventRecordText, markRecordText } from '#core/ledger/cluster/log-record.ts';
import { type AgentKey, ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import { createRedisScripts, type RedisScripts } from '#core/ledger/cluster/redis-scripts.ts';
import { toOpenVideos, toVideoJob } from '#core/ledger/cluster/redis-videos.ts';
import { foldToEnd, readCopy, ShardGapError } from '#core/ledger/cluster/shard-fold.ts';
import { recoverShard } from '#core/ledger/cluster/shard-recovery.ts';
import { drawLedgerEvents } from '../../support/ledger-events.ts';
import { createMemoryAgentStates } from '../../support/memory-agent-states.ts';
import { createMemoryLog } from '../../support/memory-log.ts';
import { useRedis } from '../../support/redis-server.ts';
import { describeWith } from '../../support/with-services.ts';

describeWith(['redis'], 'rule 5, recovery: one', () => {
  const redis = useRedis();

  /** A log of which the first half has been copied, and is gone. */
  async function cutShard(shard: number, seed: number) {
    const log = createMemoryLog(1);
    const states = createMemoryAgentStates();
    const texts = drawLedgerEvents(seed, 300).map((event, i) =>
      eventRecordText(1, i + 1, JSON.stringify(event)),
    );
    const half = Math.floor(texts.length / 2);
    await log.append(0, [markRecordText(1, 'first'), ...texts.slice(0, half)]);
    const folded = await readCopy(states, 0);
    await foldToEnd(log, folded);
    await states.writeAgents(0, folded.position, [...folded.state.agents.values()]);
    await states.writeCheckpoint(0, folded);
    await log.append(0, texts.slice(half));
    await foldToEnd(log, folded);
    log.cut(0, BigInt(half));
    const keys = new ShardKeys(shard);
    const scripts = createRedisScripts(redis.client);
    const options = { shard: 0, keys, scripts, log, states, clock: systemClock, recoverer: 'a' };
    return { log, states, keys, folded, recover: () => recoverShard(options) };
  }

  test('of a shard whose log has been cut loads what its copies and the rest of the log amount to', async () => {
    const { log, keys, folded, recover } = await cutShard(1, 7);
    const recovered = await recover();
    expect(recovered?.position).toMatchObject({ epoch: 2, seq: folded.position.seq });
    expect(log.texts(0).at(-1)).toContain('"type":"mark","epoch":2');
    const versions = await Promise.all(
      Array.from(folded.state.agents.values(), async ({ agentId, version, chargedNanoUsd }) => {
        const [inRedis, charged] = await redis.client.hmget(keys.agent(agentId), 'version', 'charged');
        return [Number(inRedis) === version, BigInt(charged ?? 0) === chargedNanoUsd];
      }),
    );
    expect(versions.length).toBeGreaterThan(1);
    expect(versions.flat()).not.toContain(false);
  });

  test('of a shard knows every video that its log does, open and ended, and what images are stored', async () => {
    let seen = { open: 0, ended: 0, stored: 0 };
    for (let seed = 20; seed < 40; seed++) {
      const { keys, folded, recover } = await cutShard(seed, seed);
      await recover();
      const open = toOpenVideos(new Map(Object.entries(await redis.client.hgetall(keys.videos))));
      for (const agent of folded.state.agents.values()) {
        const read = async (part: AgentKey) => redis.client.hgetall(keys.agent(agent.agentId, part));
        const ended = await read(':videos');
        const jobs = [...agent.videos].map((job) => {
          if (job.end === null) return open.find(({ videoId }) => videoId === job.videoId);
          const text = (what: string) => ended[`${job.videoId}${what}`] ?? '';
          return toVideoJob(text(''), text(':claim'), text(':submitted'), text(':end'));
        });
        expect(jobs).toEqual([...agent.videos]);
        expect((await read('')).open_videos).toBe(String(agent.videos.open));
        const stored = Object.entries(await read(':stored')).map(([hour, bytes]) => [
          Number(hour),
          Number(bytes),
        ]);
        expect(stored.sort()).toEqual([...agent.stored].sort());
        seen = {
          open: seen.open + agent.videos.open,
          ended: seen.ended + agent.videos.size - agent.videos.open,
          stored: seen.stored + agent.stored.size,
        };
      }
    }
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
  });

  test('refuses a shard of which a copy is lost, leaves no mark, and leaves the shard shut, however often it is asked', async () => {
    const { log, states, keys, recover } = await cutShard(2, 7);
    states.loseAgent(0, 2);
    const { length } = log.texts(0);
    for (let i = 0; i < 3; i++) await expect(recover()).rejects.toBeInstanceOf(ShardGapError);
    expect(log.texts(0)).toHaveLength(length);
    expect(await redis.client.hget(keys.meta, 'fence')).toBeNull();
  });

  test('refuses a log that ends before its copies were made', async () => {
    const { states, keys, folded } = await cutShard(3, 7);
    await states.writeCheckpoint(0, folded);
    const log = createMemoryLog(1);
    const scripts = createRedisScripts(redis.client);
    const recovered = recoverShard({
      shard: 0,
      keys,
      scripts,
      log,
      states,
      clock: systemClock,
      recoverer: 'a',
    });
    await expect(recovered).rejects.toThrow(
      `shard 0: its copy was made at record ${folded.offset}, and the log ends at 0`,
    );
    expect(log.texts(0)).toEqual([]);
  });

  test('takes to the log a whole outbox that nobody had published, in answers that a slow node gives in time', async () => {
    const log = createMemoryLog(1);
    const keys = new ShardKeys(4);
    const events = drawLedgerEvents(8, 3_000).map((event) => JSON.stringify(event));
    await log.append(0, [markRecordText(1, 'first')]);
    for (const [i, event] of events.entries()) {
      await redis.client.xadd(keys.outbox, `1-${i + 1}`, 'event', event, 'at', '0');
    }
    const real = createRedisScripts(redis.client);
    const answered: number[] = [];
    const scripts: RedisScripts = {
      async run(name, ...call) {
        const reply = await real.run(name, ...call);
        if (name === 'leftover') answered.push(Array.isArray(reply[1]) ? reply[1].length : 0);
        return reply;
      },
    };
    const states = createMemoryAgentStates();
    const recovered = await recoverShard({
      ...{ shard: 0, keys, scripts, log, states, clock: systemClock, recoverer: 'a' },
    });
    expect(recovered?.position).toMatchObject({ epoch: 2, seq: events.length });
    expect(log.texts(0).slice(1, -1)).toEqual(events.map((event, i) => eventRecordText(1, i + 1, event)));
    expect(answered).toEqual([200, 200, events.length - 400, 0]);
  });
});
