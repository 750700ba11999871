import { afterEach, describe, expect, test } from 'vitest';
import { DAY_MS, MINUTE_MS, systemClock } from '#core/clock.ts';
import { agentKeys, agentLoads } from '#core/ledger/cluster/redis-agent-loads.ts';
import { ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import { createRedisScripts, type ScriptReply } from '#core/ledger/cluster/redis-scripts.ts';
import { recoverShard } from '#core/ledger/cluster/shard-recovery.ts';
import { emptyLedger } from '#core/ledger/machine/empty-ledger.ts';
import { CALL_ID_AGE_MAX_MS, ORPHAN_GRACE_MS, ORPHAN_MARGIN_MS } from '#core/limits.ts';
import type { Service } from '../../services/service.ts';
import { startRedis } from '../../services/start-redis.ts';
import { connectTo } from '../../support/connect-to.ts';
import { testDataDir } from '../../support/data-dir.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { until } from '../../support/gateway.ts';
import { createMemoryAgentStates } from '../../support/memory-agent-states.ts';
import { createMemoryLedger } from '../../support/memory-ledger.ts';
import { createMemoryLog } from '../../support/memory-log.ts';
import { createTestRedisLedger, scriptsAt } from '../../support/redis-ledger.ts';
import { useRedis } from '../../support/redis-server.ts';
import { describeWith } from '../../support/with-services.ts';
import { charged, does, ok, readAgent, refused, START_MS, type World } from '../case.ts';
import {
  agentWith,
  expire,
  grant,
  MINUTES_13,
  reserve,
  setAgent,
  settle,
  settleOrphan,
  startUpload,
} from '../commands.ts';

describeWith(['redis'], 'the rules of the cluster', () => {
  const redis = useRedis();
  const shard = new ShardKeys(0);
  const ends: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  async function startWorld(client = redis.client): Promise<World> {
    const clock = createFakeClock(START_MS);
    return { ledger: await createTestRedisLedger(client, clock), clock, callIds: new Map() };
  }

  async function another(args: readonly string[] = []): Promise<Service> {
    const folder = await testDataDir();
    const service = await startRedis({ dir: folder.path, args });
    ends.push(async () => {
      await service.stop('SIGKILL');
      await folder[Symbol.asyncDispose]();
    });
    return service;
  }

  describe('rule 2, steps: a full memory', () => {
    test('starts nothing and grants nothing, but ends what runs', async () => {
      const world = await startWorld();
      for (const row of agentWith(100n)) await row(world);
      await does(reserve(1, 40n), ok)(world);
      await redis.client.config('SET', 'maxmemory', '1');
      try {
        await does(reserve(2, 10n), { ok: false, reason: 'unavailable' })(world);
        await does(startUpload('upl_1'), { ok: false, reason: 'unavailable' })(world);
        const ended = await world.ledger.execute(settle(1, 30n)(world));
        expect(ended.result).toMatchObject({ ok: true, chargedNanoUsd: 30n });
      } finally {
        await redis.client.config('SET', 'maxmemory', '0');
      }
      expect(await readAgent(world.ledger, 1)).toMatchObject({ chargedNanoUsd: 30n, holds: [] });
    });
  });

  describe('a start that arrives after it was given up', () => {
    test('holds nothing either once its shard was rebuilt on the same node', async () => {
      const world = await startWorld();
      const twin = createMemoryLedger({ clock: world.clock });
      for (const row of agentWith(100n)) {
        await row(world);
        await row({ ...world, ledger: twin });
      }
      await does(settle(1, 0n), refused('no_hold'))(world);
      const scripts = scriptsAt(redis.client, () => world.clock.now());
      await redis.client.hdel(shard.meta, 'fence');
      await scripts.run('claim', shard.claimed, ['nonce']);
      await scripts.run('clear_agent', [shard.meta, shard.agents, ...agentKeys(shard, 1)], ['nonce', 1]);
      expect(await redis.client.exists(shard.agent(1))).toBe(0);
      for (const agent of twin.state.agents.values()) {
        for (const { key, command, values } of agentLoads(shard, agent)) {
          await scripts.run('load', [shard.meta, key], ['nonce', command, ...values]);
        }
      }
      await scripts.run('open', [shard.meta, shard.outbox], ['nonce', 2, 3, world.clock.now(), '0']);
      await does(reserve(1, 10n), refused('done', { chargedNanoUsd: 0n }))(world);
      await does(reserve(2, 10n), ok)(world);
    });

    test('holds nothing either as long as its id can start a call, where the shard is ahead of its node', async () => {
      const world = await startWorld();
      for (const row of agentWith(100n)) await row(world);
      await does(settle(1, 0n), refused('no_hold'))(world);
      const keptMs = await redis.client.pttl(shard.givenUp(1));
      await redis.client.hset(shard.meta, 'last_ms', world.clock.now() + 2 * MINUTE_MS);
      await does(settle(1, 0n), refused('no_hold'))(world);
      expect((await redis.client.pttl(shard.givenUp(1))) - keptMs).toBeGreaterThan(MINUTE_MS);
    });

    test('leaves no mark behind once it could start nothing any more', async () => {
      const world = await startWorld();
      for (const row of agentWith(100n)) await row(world);
      await does(settle(1, 0n), refused('no_hold'))(world);
      expect(await redis.client.pttl(shard.givenUp(1))).toBeGreaterThan(0);
      world.clock.set(world.clock.now() + CALL_ID_AGE_MAX_MS + 1);
      await does(settle(2, 0n), refused('no_hold'))(world);
      expect(await redis.client.zcard(shard.givenUp(1))).toBe(1);
    });
  });

  describe('rule 2, steps: a start of which no answer came', () => {
    /** Answers are lost while there are some to lose, though what was asked has been done. */
    async function lossyWorld(
      then: ScriptReply | null = null,
    ): Promise<World & { lose(answers: number): void }> {
      const clock = createFakeClock(START_MS);
      let toLose = 0;
      let wasLost = false;
      const ledger = await createTestRedisLedger(redis.client, clock, (scripts) => ({
        async run(name, keys, args) {
          if (wasLost && then !== null) {
            wasLost = false;
            return then;
          }
          const reply = await scripts.run(name, keys, args);
          if (toLose === 0) return reply;
          toLose--;
          wasLost = true;
          throw new Error('Command timed out');
        },
      }));
      const lose = (answers: number) => {
        toLose = answers;
      };
      const world = { ledger, clock, callIds: new Map(), lose };
      for (const row of agentWith(100n)) await row(world);
      return world;
    }

    test.each<[string, number, ScriptReply | null]>([
      ['at all', 2, null],
      ['before its shard stopped deciding', 1, ['LAGS']],
      ['before its shard was fenced', 1, ['FENCED']],
    ])(
      '%s is refused, and what it may hold is free again as soon as its shard answers',
      async (_, lost, then) => {
        const world = await lossyWorld(then);
        world.lose(lost);
        await does(reserve(1, 40n), { ok: false, reason: 'unavailable' })(world);
        expect((await readAgent(world.ledger, 1)).holds).toHaveLength(1);
        await until(async () => {
          world.clock.advance(100);
          return (await readAgent(world.ledger, 1)).holds.length === 0;
        });
        expect(await readAgent(world.ledger, 1)).toMatchObject({ chargedNanoUsd: 0n, runningCalls: 0 });
      },
    );

    test('whose answer was lost once is asked for again, and answered as it was', async () => {
      const world = await lossyWorld();
      world.lose(1);
      await does(reserve(1, 40n), { ok: true, repeated: true })(world);
      expect((await readAgent(world.ledger, 1)).holds).toHaveLength(1);
    });
  });

  describe('rule 4, fence: it', () => {
    test('shuts with a restart, though every byte is still there', async () => {
      const world = await startWorld();
      for (const row of agentWith(100n)) await row(world);
      await redis.restart();
      const clock = world.clock;
      const after = await createRedisScripts(redis.client).run('position', [shard.meta, shard.outbox], []);
      expect(after).toEqual(['FENCED']);
      expect(await redis.client.hget(shard.agent(1), 'granted')).toBe('100');
      expect(clock.pendingTimers()).toBe(0);
    });

    test('shuts on a primary that is demoted and promoted again without a restart: failback', async () => {
      const first = await connectTo(await another());
      const replica = await another();
      const second = await connectTo(replica);
      ends.unshift(async () => {
        first.disconnect();
        second.disconnect();
      });
      const world = await startWorld(first);
      for (const row of agentWith(100n)) await row(world);
      const position = () => createRedisScripts(first).run('position', [shard.meta, shard.outbox], []);
      expect((await position())[0]).toBe('OK');
      const { host = '', port = 0 } = first.options;
      await second.replicaof(host, port);
      await until(async () => (await second.info('replication')).includes('master_link_status:up'));
      await second.replicaof('NO', 'ONE');
      await first.replicaof('127.0.0.1', replica.port);
      await until(async () => (await first.info('replication')).includes('master_link_status:up'));
      await first.replicaof('NO', 'ONE');
      expect(await position()).toEqual(['FENCED']);
    });

    test('answers an empty store with `unavailable`, never with “no such agent” or “no such key”', async () => {
      const world = await startWorld();
      for (const row of agentWith(100n)) await row(world);
      await redis.client.flushall();
      expect(await world.ledger.readAgent(1)).toBe('unavailable');
      expect(await world.ledger.findKey(['hash-1'])).toBe('unavailable');
      expect(await world.ledger.listAgents()).toBe('unavailable');
      await does(reserve(1, 1n), { ok: false, reason: 'unavailable' })(world);
    });

    test('of a node that is still in an older epoch than the log is taken away', async () => {
      const world = await startWorld();
      for (const row of agentWith(100n)) await row(world);
      const scripts = createRedisScripts(redis.client);
      expect(await scripts.run('fence', [shard.meta], [1])).toEqual(['NEWER']);
      await does(reserve(1, 1n), ok)(world);
      expect(await scripts.run('fence', [shard.meta], [2])).toEqual(['OK']);
      await does(reserve(2, 1n), { ok: false, reason: 'unavailable' })(world);
    });
  });

  describe('rule 5, recovery:', () => {
    test('a slower recoverer can neither load into a shard that another has claimed, nor open it', async () => {
      await redis.client.flushall();
      const scripts = createRedisScripts(redis.client);
      const openShard = [shard.meta, shard.outbox];
      const load = (nonce: string) =>
        scripts.run('load', [shard.meta, shard.agent(1)], [nonce, 'HSET', 'version', nonce]);
      await scripts.run('claim', shard.claimed, ['slow']);
      expect(await load('slow')).toEqual(['OK']);
      await scripts.run('claim', shard.claimed, ['fast']);
      expect(await load('slow')).toEqual(['LOST']);
      expect(await load('fast')).toEqual(['OK']);
      expect(await scripts.run('open', openShard, ['slow', 2, 0, 0, '0'])).toEqual(['LOST']);
      expect(await scripts.run('open', openShard, ['fast', 2, 0, 0, '0'])).toEqual(['OK']);
      expect(await load('fast')).toEqual(['LOST']);
      expect(await scripts.run('claim', shard.claimed, ['late'])).toEqual(['OPEN']);
    });

    test('of many recoverers at once the first mark’s opens the shard, and the others stand down', async () => {
      await redis.client.flushall();
      const log = createMemoryLog(1);
      const scripts = createRedisScripts(redis.client);
      let recoverers = 0;
      const recover = () =>
        recoverShard({
          shard: 0,
          keys: shard,
          scripts,
          log,
          states: createMemoryAgentStates(),
          recoverer: `${++recoverers}`,
          clock: systemClock,
        });
      const recovered = await Promise.all(Array.from({ length: 5 }, recover));
      expect(recovered.filter((one) => one !== null)).toHaveLength(1);
      expect((await scripts.run('position', [shard.meta, shard.outbox], []))[1]).toBe('1');
      // Its state is the log's, which has nothing.
      expect(emptyLedger().agents.size).toBe(await redis.client.scard(shard.agents));
    });
  });

  describe('rule 3, log: of two workers at once', () => {
    test('an acknowledgement is never taken back by a slower one', async () => {
      const world = await startWorld();
      for (const row of agentWith(100n)) await row(world);
      const scripts = createRedisScripts(redis.client);
      const keys = [shard.meta, shard.outbox];
      expect(await scripts.run('ack', keys, [1, 2, '1', 3, 1])).toEqual(['OK', '1', []]);
      expect((await scripts.run('position', keys, [])).slice(0, 4)).toEqual(['OK', '1', '3', '0']);
    });

    test('a recoverer waits for another, but not for a lease that a wrong clock made', async () => {
      await redis.client.flushall();
      const scripts = createRedisScripts(redis.client);
      const lease = (recoverer: string) => scripts.run('lease', [shard.meta], [recoverer, 5_000]);
      expect(await lease('a')).toEqual(['OK']);
      expect(await lease('b')).toEqual(['BUSY']);
      expect(await lease('a')).toEqual(['OK']);
      await redis.client.hset(shard.meta, 'lease_until', String(Date.now() + 86_400_000));
      expect(await lease('b')).toEqual(['OK']);
    });
  });

  describe('rule 11, time:', () => {
    test('a time that is refused moves no shard’s time', async () => {
      const world = await startWorld();
      for (const row of agentWith(100n)) await row(world);
      const before = world.clock.now();
      const command = reserve(1, 1n)(world);
      world.clock.set(before + DAY_MS);
      expect((await world.ledger.execute(command)).result).toEqual({ ok: false, reason: 'clock_apart' });
      world.clock.set(before);
      await does(reserve(1, 1n), ok)(world);
    });

    test('whatever is done while the clock is a day ahead, calls start again as soon as it is right', async () => {
      const world = await startWorld();
      for (const row of agentWith(100n)) await row(world);
      await does(reserve(1, 10n), ok)(world);
      const before = world.clock.now();
      world.clock.set(before + DAY_MS);
      await does(settle(1, 3n), charged(3n))(world);
      await does(grant(1n, { grantId: 'later' }), ok)(world);
      await does(setAgent({ sourceVersion: 9 }), ok)(world);
      await does(expire(1, before), { ok: true, expiredNanoUsd: 0n })(world);
      world.clock.set(before);
      await does(reserve(2, 1n), ok)(world);
    });

    test('a shard whose last event a wrong clock has made is rebuilt with the right time', async () => {
      const world = await startWorld();
      for (const row of agentWith(100n)) await row(world);
      const scripts = scriptsAt(redis.client, () => world.clock.now());
      const openAt = async (lastMs: number): Promise<number> => {
        await redis.client.hdel(shard.meta, 'fence');
        await scripts.run('claim', shard.claimed, ['nonce']);
        await scripts.run('open', [shard.meta, shard.outbox], ['nonce', 2, 3, lastMs, '0']);
        return Number(await redis.client.hget(shard.meta, 'last_ms'));
      };
      expect(await openAt(world.clock.now() + DAY_MS)).toBe(world.clock.now());
      await does(reserve(1, 1n), ok)(world);
      // A node whose clock is some seconds behind the last one's does not make time step back.
      expect(await openAt(world.clock.now() + 2_000)).toBe(world.clock.now() + 2_000);
    });

    test('credit that has not ended by the log’s clock stays, though Redis is days ahead', async () => {
      const world = await startWorld();
      for (const row of agentWith(100n)) await row(world);
      const before = world.clock.now();
      world.clock.set(before + 20 * DAY_MS);
      await does(expire(1, before), { ok: true, expiredNanoUsd: 0n })(world);
      world.clock.set(before);
      await does(reserve(1, 100n), ok)(world);
    });

    test('no orphan is settled within two minutes of its shard’s opening, and then it is', async () => {
      const world = await startWorld();
      for (const row of agentWith(100n)) await row(world);
      await does(reserve(1, 10n), ok)(world);
      world.clock.set(world.clock.now() + MINUTES_13 + ORPHAN_MARGIN_MS);
      // As when the shard had just been rebuilt on another node.
      await redis.client.hset(shard.meta, 'opened_ms', String(world.clock.now()));
      await does(settleOrphan(1), refused('not_orphaned'))(world);
      world.clock.set(world.clock.now() + ORPHAN_GRACE_MS - 1);
      await does(settleOrphan(1), refused('not_orphaned'))(world);
      world.clock.set(world.clock.now() + 1);
      await does(settleOrphan(1), charged(0n))(world);
    });

    test('a shard that a wrong clock opened does not keep its orphans until that time has come', async () => {
      const world = await startWorld();
      for (const row of agentWith(100n)) await row(world);
      await does(reserve(1, 10n), ok)(world);
      world.clock.set(world.clock.now() + MINUTES_13 + ORPHAN_MARGIN_MS);
      await redis.client.hset(shard.meta, 'opened_ms', String(world.clock.now() + DAY_MS));
      await does(settleOrphan(1), charged(0n))(world);
    });
  });
});
