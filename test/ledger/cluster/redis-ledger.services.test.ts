import { afterEach, describe, expect, test } from 'vitest';
import { Acknowledgements } from '#core/ledger/cluster/acknowledgements.ts';
import { toScriptCall } from '#core/ledger/cluster/redis-commands.ts';
import { RECALLED_KEY_MS, UNKNOWN_KEY_MS } from '#core/ledger/cluster/redis-key-lookup.ts';
import { ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import { createRedisLedger, type RedisLedger } from '#core/ledger/cluster/redis-ledger.ts';
import type { RedisScripts, ScriptName } from '#core/ledger/cluster/redis-scripts.ts';
import type { Durability } from '#core/ledger/ledger.ts';
import { CLOCK_APART_MAX_MS, GATE_TIMEOUT_MS } from '#core/limits.ts';
import { LedgerRetries } from '../../../api/inference/hold/ledger-retries.ts';
import type { Service } from '../../services/service.ts';
import { startRedis } from '../../services/start-redis.ts';
import { connectTo } from '../../support/connect-to.ts';
import { testDataDir } from '../../support/data-dir.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { until } from '../../support/gateway.ts';
import { openEmptyShard, scriptsAt } from '../../support/redis-ledger.ts';
import { useRedis } from '../../support/redis-server.ts';
import { describeWith } from '../../support/with-services.ts';
import { day, does, ok, refused, START_MS, type World } from '../case.ts';
import {
  agentWith,
  callEnd,
  changeKey,
  expire,
  finish,
  grant,
  moveIn,
  moveOut,
  putKey,
  reserve,
  reserveVideo,
  revokeKey,
  setAgent,
  settle,
  startLimits,
  startUpload,
} from '../commands.ts';

const quiet = { info() {}, warn() {}, error() {} };
const shard = new ShardKeys(0);
const unavailable = refused('unavailable');

interface Process {
  ledger: RedisLedger;
  /** Calls of scripts, by name. */
  asked: ScriptName[];
}

describeWith(['redis'], 'a process on Redis', () => {
  const redis = useRedis(['--appendfsync', 'no']);
  const ends: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  /** A shard whose log has only what the test acknowledges, for as many processes as it wants. */
  async function openShard() {
    await redis.client.flushall();
    const clock = createFakeClock(START_MS);
    const scripts = scriptsAt(redis.client, () => clock.now());
    await openEmptyShard(scripts, shard);
    let publishes = true;
    const acknowledge = async () => {
      const [epoch = 0, seq = 0] = await redis.client.hmget(shard.meta, 'epoch', 'seq');
      await scripts.run('ack', [shard.meta, shard.outbox], [epoch ?? 0, seq ?? 0, '0', 0, 1]);
    };
    const startProcess = (): Process => {
      const asked: ScriptName[] = [];
      const ledger = createRedisLedger({
        scripts: {
          run(name, keys, args) {
            asked.push(name);
            return scripts.run(name, keys, args);
          },
        },
        shards: 1,
        clock,
        log: quiet,
        async acknowledged(): Promise<Durability> {
          if (!publishes) return 'unknown';
          await acknowledge();
          return 'durable';
        },
      });
      ends.push(() => ledger.close());
      return { ledger, asked };
    };
    const { ledger, asked } = startProcess();
    const world: World = { ledger, clock, callIds: new Map() };
    const stopPublishing = () => {
      publishes = false;
    };
    const publishAgain = () => {
      publishes = true;
    };
    return { clock, world, ledger, asked, startProcess, scripts, stopPublishing, publishAgain, acknowledge };
  }

  const outcome = async (world: World, operation: ReturnType<typeof reserve>) => {
    const { result, durable } = await world.ledger.execute(operation(world));
    return [result, await durable];
  };
  const held = async (): Promise<number> => (await redis.client.hkeys(shard.agent(1, ':holds'))).length;

  describe('rule 3, log: without anybody who takes events there', () => {
    test('no call starts after two seconds, running ones end, and all is well once somebody does', async () => {
      const { world, clock, stopPublishing, publishAgain, acknowledge } = await openShard();
      for (const row of agentWith(100n)) await row(world);
      await does(reserve(1, 10n), ok)(world);
      stopPublishing();
      expect(await outcome(world, reserve(2, 10n))).toEqual([ok, 'unknown']);
      clock.set(clock.now() + GATE_TIMEOUT_MS);
      expect((await outcome(world, reserve(3, 10n)))[0]).toEqual(unavailable);
      expect(await outcome(world, settle(1, 4n))).toEqual([expect.objectContaining({ ok: true }), 'unknown']);
      publishAgain();
      await acknowledge();
      await does(reserve(4, 10n), ok)(world);
    });
  });

  describe('a video', () => {
    test('is not shown before the log has it, and not taken for unknown by a node that is shut', async () => {
      const { world, ledger, stopPublishing, publishAgain } = await openShard();
      for (const row of agentWith(100n)) await row(world);
      stopPublishing();
      await world.ledger.execute(reserveVideo(1, 10n, { idempotencyKey: 'my-order' })(world));
      expect(await ledger.readVideo(1, 'vid_1')).toBe('unavailable');
      expect(await ledger.findVideoByKey(1, 'my-order')).toBe('unavailable');
      expect(await ledger.listOpenVideos()).toBe('unavailable');
      publishAgain();
      expect(await ledger.readVideo(1, 'vid_1')).toMatchObject({ videoId: 'vid_1', end: null });
      await redis.client.hdel(shard.meta, 'fence');
      expect(await ledger.readVideo(1, 'vid_1')).toBe('unavailable');
      expect(await ledger.readVideo(1, 'vid_2')).toBe('unavailable');
      expect(await ledger.findVideoByKey(1, 'my-order')).toBe('unavailable');
      expect(await ledger.listOpenVideos()).toBe('unavailable');
    });

    test('is read by one script, however often', async () => {
      const { world, ledger, asked } = await openShard();
      for (const row of [...agentWith(100n), does(reserveVideo(1, 10n), ok)]) await row(world);
      asked.length = 0;
      for (let i = 0; i < 3; i++) expect(await ledger.readVideo(1, 'vid_1')).toMatchObject({ end: null });
      expect(asked).toEqual(['read_video', 'read_video', 'read_video']);
    });

    test('whose sender was told that there is none is released, and its Idempotency-Key is free', async () => {
      const { world, clock, ledger, stopPublishing, publishAgain } = await openShard();
      for (const row of agentWith(100n)) await row(world);
      stopPublishing();
      expect(await outcome(world, reserve(1, 1n))).toEqual([ok, 'unknown']);
      expect(await outcome(world, reserveVideo(2, 10n, { idempotencyKey: 'my-order' }))).toEqual([
        unavailable,
        'durable',
      ]);
      publishAgain();
      await until(async () => {
        clock.advance(100);
        return (await redis.client.hlen(shard.videos)) === 0;
      });
      expect(await ledger.findVideoByKey(1, 'my-order')).toBeNull();
      await does(reserveVideo(3, 10n, { idempotencyKey: 'my-order' }), ok)(world);
      expect(await ledger.findVideoByKey(1, 'my-order')).toMatchObject({ videoId: 'vid_3' });
    });
  });

  describe('rule 6, gate: while the log is slow', () => {
    test('a start that it never has is released, and answered as if it had never been', async () => {
      const { world, clock, ledger, stopPublishing, publishAgain } = await openShard();
      for (const row of agentWith(100n)) await row(world);
      stopPublishing();
      // The first that is late is answered: nobody knew. From then on a start's own answer waits.
      expect(await outcome(world, reserve(1, 10n))).toEqual([ok, 'unknown']);
      expect(await outcome(world, reserve(2, 10n))).toEqual([unavailable, 'durable']);
      expect(ledger.stats()).toMatchObject({ gateTimeouts: 2, dispatchWaits: 1, unavailable: 1 });
      publishAgain();
      await until(async () => {
        clock.advance(100);
        // Three fields a hold; the first one's process ends it.
        return (await held()) === 3;
      });
      await does(settle(2, 0n), { ok: true, repeated: true, chargedNanoUsd: 0n })(world);
    });

    test('what is refused because of a start waits for that start’s event, and for nothing once the log has it', async () => {
      const { world, stopPublishing, publishAgain, acknowledge } = await openShard();
      for (const row of agentWith(100n)) await row(world);
      const limit = { limitNanoUsd: 50n, reset: 'daily' } as const;
      await does(putKey(2, { limit }), ok)(world);
      stopPublishing();
      expect(await outcome(world, reserve(1, 40n, { keyId: 2 }))).toEqual([ok, 'unknown']);
      const refusals = [
        [reserve(2, 80n), 'balance'],
        [reserve(3, 20n, { keyId: 2 }), 'key_limit'],
        [reserve(4, 1n, { limits: { ...startLimits, runningCalls: 1 } }), 'running_calls'],
        [reserve(5, 1n, { limits: { ...startLimits, burst: 1 } }), 'rate'],
        [reserve(6, 1n, { limits: { ...startLimits, dailyShareNanoUsd: 40n } }), 'daily_share'],
      ] as const;
      const outcomes = async () => {
        const all = [];
        for (const [operation, reason] of refusals) {
          const [result, durability] = await outcome(world, operation);
          expect(result).toMatchObject({ ok: false, reason });
          all.push(durability);
        }
        return new Set(all);
      };
      expect(await outcomes()).toEqual(new Set(['unknown']));
      await acknowledge();
      // Nobody publishes still, and there is nothing to wait for.
      expect(await outcomes()).toEqual(new Set(['durable']));
      publishAgain();
    });

    test('a start is told of the log’s lag, and waits above a quarter of a second of it', async () => {
      const { world, clock, ledger, scripts } = await openShard();
      for (const row of agentWith(100n)) await row(world);
      const { name, keys, args } = toScriptCall(setAgent({ sourceVersion: 7 })(world), shard);
      await scripts.run(name, keys, args);
      clock.set(clock.now() + 251);
      await does(reserve(1, 10n), ok)(world);
      expect(ledger.stats()).toMatchObject({ lagMs: 251, dispatchWaits: 1, gateTimeouts: 0 });
    });
  });

  describe('rule 8, settle: that there is no hold', () => {
    const another = async (): Promise<Service> => {
      const folder = await testDataDir();
      const service = await startRedis({ dir: folder.path });
      ends.push(async () => {
        await service.stop('SIGKILL');
        await folder[Symbol.asyncDispose]();
      });
      return service;
    };

    /** A shard that two nodes think is theirs: an old primary of epoch 1, and the one that decides, of epoch 2. */
    async function splitBrain() {
      const clock: FakeClock = createFakeClock(START_MS);
      const old = await connectTo(await another());
      ends.unshift(async () => old.disconnect());
      await redis.client.flushall();
      const nodes = [old, redis.client].map((client) => scriptsAt(client, () => clock.now()));
      for (const [i, scripts] of nodes.entries()) {
        await scripts.run('claim', shard.claimed, ['nonce']);
        await scripts.run('open', [shard.meta, shard.outbox], ['nonce', i + 1, 0, 0, '0']);
      }
      let reached = 1;
      const scripts: RedisScripts = {
        run: (...call) => nodes[reached]?.run(...call) ?? Promise.reject(new Error('no such node')),
      };
      const acknowledgements = new Acknowledgements({ clock, ask: async () => null });
      const ledger = createRedisLedger({
        scripts,
        shards: 1,
        clock,
        log: quiet,
        async acknowledged(of, place) {
          // The log has all that the present epoch's node has decided, and nothing of the old one's.
          const seq = await redis.client.hget(shard.meta, 'seq');
          acknowledgements.note(of, `2-${seq}`);
          return await acknowledgements.wait(of, place);
        },
      });
      ends.push(() => ledger.close());
      const world: World = { ledger, clock, callIds: new Map() };
      const reach = (node: 'old' | 'new') => {
        reached = node === 'old' ? 0 : 1;
      };
      return { world, clock, ledger, reach };
    }

    test.each([
      ['settle', settle(1, 4n)],
      ['finish', finish(1)],
    ])('is no answer to a %s from an epoch older than the reserve’s', async (_, operation) => {
      const { world, reach } = await splitBrain();
      for (const row of agentWith(100n)) await row(world);
      await does(reserve(1, 10n), ok)(world);
      reach('old');
      expect(await outcome(world, operation)).toEqual([refused('no_hold'), 'unknown']);
      reach('new');
      await does(operation, expect.objectContaining({ ok: true }))(world);
      await does(settle(9, 4n), refused('no_hold'))(world);
    });

    test('does not make a process forget what a call owes', async () => {
      const { world, clock, ledger, reach } = await splitBrain();
      for (const row of agentWith(100n)) await row(world);
      await does(reserve(1, 10n), ok)(world);
      const retries = new LedgerRetries({ ledger, clock, log: quiet });
      reach('old');
      const callId = world.callIds.get(1) ?? 0;
      void retries.close({ type: 'settle', agentId: 1, callId, costNanoUsd: 4n, end: callEnd, cause: 'end' });
      await until(() => {
        clock.advance(250);
        return clock.now() > START_MS + 5_000;
      });
      expect(retries.waiting).toBe(1);
      reach('new');
      await until(() => {
        clock.advance(250);
        return retries.waiting === 0;
      });
      expect(await redis.client.hget(shard.agent(1), 'charged')).toBe('4');
    });
  });

  describe('rule 9, other commands:', () => {
    test('each is durable only once the log has its event, a refused sale like an accepted one', async () => {
      const { world, stopPublishing, publishAgain } = await openShard();
      for (const row of agentWith(100n)) await row(world);
      const sold = moveOut('t1', 10n);
      const notSold = moveOut('t2', 1_000n);
      const commands = [
        grant(5n, { grantId: 'g2' }),
        putKey(2),
        changeKey(2, { label: 'desk' }),
        startUpload('upl_1'),
        revokeKey(1),
        sold,
        notSold,
        moveIn('t3', 5n),
      ];
      commands.push(setAgent({ sourceVersion: 7 }));
      stopPublishing();
      for (const command of commands) expect((await outcome(world, command))[1]).toBe('unknown');
      publishAgain();
      for (const command of commands) {
        const [result, durability] = await outcome(world, command);
        expect([result, durability]).toEqual([expect.objectContaining({ repeated: true }), 'durable']);
      }
      await does(notSold, { ok: false, repeated: true, reason: 'balance' })(world);
    });

    test('bought credit always comes in: past its end, or beyond the cap, it comes in expired', async () => {
      const { world } = await openShard();
      for (const row of agentWith(100n)) await row(world);
      const late = moveIn('t1', 5n, { expiresAtMs: START_MS - (START_MS % 86_400_000) });
      await does(late, { ok: true, repeated: false, expiredNanoUsd: 5n })(world);
      const cap = 9_000_000_000_000_000n;
      await does(moveIn('t2', cap), { ok: true, repeated: false, expiredNanoUsd: 100n })(world);
    });
  });

  describe('rule 12, order of changes:', () => {
    test('a suspension from any source wins, and an older word changes nothing', async () => {
      const { world } = await openShard();
      for (const row of agentWith(100n)) await row(world);
      await does(
        setAgent({ mode: 'upsert', source: 'fraud', status: 'suspended', sourceVersion: 5 }),
        ok,
      )(world);
      await does(setAgent({ mode: 'upsert', sourceVersion: 8, status: 'active' }), ok)(world);
      await does(reserve(1, 1n), refused('agent_suspended'))(world);
      const stale = setAgent({ mode: 'upsert', source: 'fraud', status: 'active', sourceVersion: 4 });
      await does(stale, { ok: true, repeated: true })(world);
      await does(reserve(1, 1n), refused('agent_suspended'))(world);
    });

    test('credit for an agent that nobody has announced makes it, inactive', async () => {
      const { world } = await openShard();
      await does(grant(5n), ok)(world);
      await does(putKey(1), ok)(world);
      await does(reserve(1, 1n), refused('agent_inactive'))(world);
    });

    test('a key that was revoked, or has a limit, manages no keys, whatever its process saw before', async () => {
      const { world } = await openShard();
      for (const row of agentWith(100n)) await row(world);
      await does(putKey(2, { limit: { limitNanoUsd: 10_000_000n, reset: 'daily' } }), ok)(world);
      await does(putKey(3, { actingKeyId: 2 }), refused('acting_key_limited'))(world);
      await does(revokeKey(1), ok)(world);
      await does(putKey(4, { actingKeyId: 1 }), refused('acting_key_revoked'))(world);
      await does(revokeKey(2, { actingKeyId: 1 }), refused('acting_key_revoked'))(world);
    });
  });

  test('rule 11, time: a process whose clock is not Redis’ counts the starts that it was refused for that', async () => {
    const { world, ledger } = await openShard();
    for (const row of agentWith(100n)) await row(world);
    const command = { ...reserve(1, 1n)(world), callerNowMs: world.clock.now() + CLOCK_APART_MAX_MS + 1 };
    expect((await ledger.execute(command)).result).toEqual(refused('clock_apart'));
    await does(reserve(2, 1n), ok)(world);
    expect(ledger.stats().clocksApart).toBe(1);
  });

  describe('a key', () => {
    const found = { found: true, agentId: 1, keyId: 1, revoked: false, agentStatus: 'active' };

    test('that is known costs one question a call', async () => {
      const { world, ledger, asked } = await openShard();
      for (const row of agentWith(100n)) await row(world);
      expect(await ledger.findKey(['hash-1'])).toEqual(found);
      asked.splice(0);
      expect(await ledger.findKey(['hash-1'])).toEqual(found);
      expect(asked).toEqual(['key_status']);
    });

    test('that was revoked is revoked in every process with its next call', async () => {
      const { world, startProcess } = await openShard();
      for (const row of agentWith(100n)) await row(world);
      const other = startProcess();
      expect(await other.ledger.findKey(['hash-1'])).toEqual(found);
      await does(revokeKey(1), ok)(world);
      expect(await other.ledger.findKey(['hash-1'])).toEqual({ ...found, revoked: true });
      await does(setAgent({ sourceVersion: 9, status: 'suspended' }), ok)(world);
      expect(await other.ledger.findKey(['hash-1'])).toMatchObject({ agentStatus: 'suspended' });
    });

    test('that was live is not asked for by a start for ten seconds, whose reserve knows of its end', async () => {
      const { world, clock, startProcess } = await openShard();
      for (const row of agentWith(100n)) await row(world);
      const { ledger, asked } = startProcess();
      expect(ledger.recallKey(['hash-1'])).toBeNull();
      await ledger.findKey(['hash-1']);
      asked.splice(0);
      clock.advance(RECALLED_KEY_MS - 1);
      expect(ledger.recallKey(['hash-1'])).toMatchObject({ agentId: 1, keyId: 1 });
      expect(asked).toEqual([]);
      await does(revokeKey(1), ok)(world);
      await does(reserve(1, 1n), refused('key_revoked'))({ ...world, ledger });
      clock.advance(1);
      expect(ledger.recallKey(['hash-1'])).toBeNull();
    });

    test('that nobody knows is not asked for again for five seconds, but its maker finds it at once', async () => {
      const { world, clock, ledger, startProcess } = await openShard();
      for (const row of agentWith(100n)) await row(world);
      const other = startProcess();
      for (const process of [{ ledger }, other]) {
        expect(await process.ledger.findKey(['hash-2'])).toEqual({ found: false });
      }
      other.asked.splice(0);
      expect(await other.ledger.findKey(['hash-2'])).toEqual({ found: false });
      expect(other.asked).toEqual([]);
      await does(putKey(2), ok)(world);
      expect(await ledger.findKey(['hash-2'])).toMatchObject({ found: true, keyId: 2 });
      expect(await other.ledger.findKey(['hash-2'])).toEqual({ found: false });
      clock.advance(UNKNOWN_KEY_MS);
      expect(await other.ledger.findKey(['hash-2'])).toMatchObject({ found: true, keyId: 2 });
      // One that nobody tried before is found everywhere with its first call.
      await does(putKey(3), ok)(world);
      expect(await other.ledger.findKey(['hash-3'])).toMatchObject({ found: true, keyId: 3 });
    });

    test('that was made in an epoch that never counted is unknown, though a process has seen it', async () => {
      const { world, ledger, scripts } = await openShard();
      for (const row of agentWith(100n)) await row(world);
      expect(await ledger.findKey(['hash-1'])).toEqual(found);
      await redis.client.hdel(shard.meta, 'fence');
      expect(await ledger.findKey(['hash-1'])).toBe('unavailable');
      await redis.client.flushall();
      await openEmptyShard(scripts, shard);
      expect(await ledger.findKey(['hash-1'])).toEqual({ found: false });
    });
  });

  test('reads only agents that have something open, or ended', async () => {
    const { world, ledger, asked } = await openShard();
    for (const row of agentWith(100n)) await row(world);
    for (let agentId = 2; agentId <= 20; agentId++) await does(grant(5n, { agentId }), ok)(world);
    await does(reserve(1, 10n), ok)(world);
    asked.splice(0);
    expect(await ledger.listHolds()).toHaveLength(1);
    expect(asked).toEqual(['list_open', 'read_agent']);
    expect(await ledger.listEnded(START_MS)).toEqual([]);
    expect(asked).toEqual(['list_open', 'read_agent', 'list_ended']);
    // Where an end is listed that means nothing any more, one look at it takes it off the list.
    await does(moveOut('t1', 5n, { agentId: 2 }), ok)(world);
    expect(await ledger.listEnded(day(8))).toContain(2);
    await does(expire(2), { ok: true, expiredNanoUsd: 0n })(world);
    expect(await ledger.listEnded(day(8))).not.toContain(2);
  });
});
