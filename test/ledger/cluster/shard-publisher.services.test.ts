import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { type Clock, SECOND_MS, systemClock } from '#core/clock.ts';
import { follow, LOG_START } from '#core/ledger/cluster/effective-log.ts';
import type { StoredRecord } from '#core/ledger/cluster/ledger-log.ts';
import {
  decodeLogRecord,
  eventRecordText,
  HEARTBEAT_TEXT,
  markRecordText,
} from '#core/ledger/cluster/log-record.ts';
import { toScriptCall } from '#core/ledger/cluster/redis-commands.ts';
import { ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import type { RedisScripts } from '#core/ledger/cluster/redis-scripts.ts';
import { LOG_HEARTBEAT_MS, ShardPublisher } from '#core/ledger/cluster/shard-publisher.ts';
import { foldEvent } from '#core/ledger/machine/apply.ts';
import { emptyLedger } from '#core/ledger/machine/empty-ledger.ts';
import type { LedgerState } from '#core/ledger/machine/state.ts';
import { connectTo } from '../../support/connect-to.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { until } from '../../support/gateway.ts';
import { createMemoryAgentStates } from '../../support/memory-agent-states.ts';
import { type AppendFate, createMemoryLog, type MemoryLog } from '../../support/memory-log.ts';
import { scriptsAt } from '../../support/redis-ledger.ts';
import { useRedis } from '../../support/redis-server.ts';
import { describeWith } from '../../support/with-services.ts';
import type { World } from '../case.ts';
import { setAgent } from '../commands.ts';
import { createDraw, pick } from '../history/random.ts';
import { OPENING } from '../history/run-histories.ts';
import { drawProfile, drawStep } from '../history/step.ts';
import { StepWorld } from '../history/step-world.ts';

const SEEDS = 20;
const STEPS = 60;
const SPEED = 50;

/** Waits of the publisher's own are over fifty times as fast. */
const quickClock: Clock = {
  now: systemClock.now,
  monotonicMs: () => systemClock.monotonicMs() * SPEED,
  setTimer: (delayMs, fire) => systemClock.setTimer(delayMs / SPEED, fire),
};

const fates: readonly AppendFate[] = [
  'stored',
  'stored',
  'stored',
  'stored twice',
  'stored, answer lost',
  'lost',
  'stored later, answer lost',
];

interface Folded {
  state: LedgerState;
  seq: number;
}

/** The shard as it has to be once nothing is under way. */
const inLog = ({ state, seq }: Folded): object => ({
  fence: 'OK',
  seq: String(seq),
  bytes: '0',
  outbox: 0,
  agents: Array.from(state.agents.values(), ({ version, grantedNanoUsd, chargedNanoUsd }) => [
    String(version),
    grantedNanoUsd === 0n ? null : String(grantedNanoUsd),
    chargedNanoUsd === 0n ? null : String(chargedNanoUsd),
  ]),
});

/** What a shard's partition amounts to. */
function foldOf(log: MemoryLog): Folded {
  const state = emptyLedger();
  const position = { ...LOG_START };
  for (const text of log.texts(0)) {
    const effect = follow(position, decodeLogRecord(Buffer.from(text)));
    if (effect.kind === 'event') foldEvent(state, effect.event);
  }
  return { state, seq: position.seq };
}

describeWith(['redis'], 'a publisher', () => {
  const redis = useRedis(['--appendfsync', 'no']);

  test.each(Array.from({ length: SEEDS }, (_, i) => i + 1))(
    'rule 3, log: tells of no event that the log does not have, and loses none, whatever becomes of its appends (seed %i)',
    async (seed) => {
      const draw = createDraw(seed);
      const world = new StepWorld(drawProfile(draw));
      const keys = new ShardKeys(seed);
      const log = createMemoryLog(1, () => pick(draw, fates));
      const scripts = scriptsAt(redis.client, () => world.nowMs);
      const logger = { info() {}, warn() {}, error() {} };
      // Every other time both lead at once, as where a lease means nothing: on two nodes, or with a wrong clock.
      const leased: RedisScripts = {
        run: (name, of, args) =>
          name === 'lease' && seed % 2 === 0 ? Promise.resolve(['OK']) : scripts.run(name, of, args),
      };
      // Two at once, as while a worker is being replaced.
      const publishers = [1, 2].map(
        (name) =>
          new ShardPublisher({
            shard: 0,
            keys,
            scripts: leased,
            log,
            states: createMemoryAgentStates(),
            clock: quickClock,
            logger,
            recoverer: `${name}`,
            tailFrom: 0n,
          }),
      );
      const tail = await log.tail(new Map([[0, 0n]]), (_, record) => {
        for (const publisher of publishers) publisher.onRecord(record);
      });
      const subscriber = await connectTo(redis.service);
      const toldTooEarly: string[] = [];
      subscriber.on('message', (_, place: string) => {
        if (Number(place.split('-')[1]) > foldOf(log).seq) toldTooEarly.push(place);
      });
      await subscriber.subscribe(`${keys.meta}:acked`);
      for (const publisher of publishers) publisher.wake();
      await until(() => publishers.some(({ isOpen }) => isOpen));

      // A mark that lands late begins yet another epoch: then the shard is rebuilt once more.
      async function inRedis({ state }: Folded): Promise<object> {
        const [fence] = await scripts.run('position', [keys.meta, keys.outbox], []);
        const [seq, bytes] = await redis.client.hmget(keys.meta, 'seq', 'outbox_bytes');
        const ids = [...state.agents.keys()];
        const agents = await Promise.all(
          ids.map((agentId) => redis.client.hmget(keys.agent(agentId), 'version', 'granted', 'charged')),
        );
        const zeroes = agents.map((fields) => fields.map((field) => (field === '0' ? null : field)));
        return { fence, seq, bytes, outbox: await redis.client.xlen(keys.outbox), agents: zeroes };
      }

      const state = emptyLedger();
      for (let i = 0; i < STEPS; i++) {
        const command = world.commandOf(OPENING[i] ?? drawStep(draw), state);
        if (command === null) continue;
        const { name, keys: scriptKeys, args } = toScriptCall(command, keys);
        await scripts.run(name, scriptKeys, args);
        publishers[draw(2)]?.wake();
        if (draw(5) === 0) log.storeLate();
      }
      await until(async () => {
        log.storeLate();
        for (const publisher of publishers) publisher.wake();
        return isDeepStrictEqual(await inRedis(foldOf(log)), inLog(foldOf(log)));
      }, 30_000).catch(async () => expect(await inRedis(foldOf(log))).toEqual(inLog(foldOf(log))));
      expect(toldTooEarly).toEqual([]);
      for (const publisher of publishers) publisher.stop();
      await tail.stop();
      subscriber.disconnect();
    },
  );

  test('rule 3, log: does not tell of an event that was stored behind the mark of a newer epoch, where it never counts', async () => {
    const keys = new ShardKeys(SEEDS + 1);
    const log = createMemoryLog(1);
    const clock = systemClock;
    const scripts = scriptsAt(redis.client, () => clock.now());
    const logger = { info() {}, warn() {}, error() {} };
    const states = createMemoryAgentStates();
    const options = { shard: 0, keys, scripts, log, states, clock, logger, recoverer: 'a', tailFrom: 0n };
    const publisher = new ShardPublisher(options);
    const read: StoredRecord[] = [];
    await log.tail(new Map([[0, 0n]]), (_, record) => void read.push(record));
    publisher.wake();
    await until(() => publisher.isOpen);
    const subscriber = await connectTo(redis.service);
    const told: string[] = [];
    subscriber.on('message', (_, place: string) => void told.push(place));
    await subscriber.subscribe(`${keys.meta}:acked`);

    await log.append(0, [markRecordText(2, 'another recoverer')]);
    const { name, keys: scriptKeys, args } = toScriptCall(setAgent()({} as World), keys);
    expect((await scripts.run(name, scriptKeys, args))[0]).toBe('OK');
    publisher.wake();
    await until(() => log.texts(0).length === 3);
    // It is stored; what it is worth shows only when it is read back.
    for (let i = 0; i < 3; i++) await scripts.run('ack', [keys.meta, keys.outbox], [1, 0, '0', 0, 1]);
    for (const record of read.splice(0)) publisher.onRecord(record);
    await until(() => log.texts(0).some((text) => text.includes('"epoch":3')));
    publisher.stop();
    expect(told).toEqual([]);
    subscriber.disconnect();
  });

  test.each([
    ['is no record at all', 'nonsense'],
    [
      'is missing one before it',
      eventRecordText(1, 5, '{"v":1,"type":"key_revoked","agentId":1,"version":1,"atMs":1,"keyId":1}'),
    ],
  ])('that reads what %s stops its shard, says so once, and so does the next one', async (_, poison) => {
    const keys = new ShardKeys(SEEDS + (poison === 'nonsense' ? 2 : 3));
    const log = createMemoryLog(1);
    const scripts = scriptsAt(redis.client, () => systemClock.now());
    const errors: string[] = [];
    const logger = { info() {}, warn() {}, error: (event: string) => void errors.push(event) };
    const states = createMemoryAgentStates();
    const options = { shard: 0, keys, scripts, log, states, clock: quickClock, logger };
    const publisher = new ShardPublisher({ ...options, recoverer: 'a', tailFrom: 0n });
    await log.tail(new Map([[0, 0n]]), (_shard, record) => publisher.onRecord(record));
    publisher.wake();
    await until(() => publisher.isOpen);
    expect(publisher.isPoisoned).toBe(false);
    await log.append(0, [poison]);
    expect(publisher.isOpen).toBe(false);
    await redis.client.hdel(keys.meta, 'fence');
    const next = new ShardPublisher({ ...options, recoverer: 'a', tailFrom: 0n });
    next.wake();
    await until(() => errors.length === 2);
    expect([publisher.isPoisoned, next.isPoisoned]).toEqual([true, true]);
    expect(new Set(errors)).toEqual(new Set(['a shard is stopped, because its log cannot be followed']));
    expect(await redis.client.hget(keys.meta, 'fence')).toBeNull();
  });

  const setAda = (keys: ShardKeys) => toScriptCall(setAgent()({} as World), keys);
  const quiet = { info() {}, warn() {}, error() {} };

  /** Two publishers' worth of options over one log, with scripts that a test may make fail. */
  function startShard(number: number, fails: (name: string) => boolean = () => false) {
    const keys = new ShardKeys(SEEDS + number);
    const log = createMemoryLog(1);
    const real = scriptsAt(redis.client, () => systemClock.now());
    const scripts: RedisScripts = {
      async run(name, of, args) {
        if (fails(name)) throw new Error('Command timed out');
        return real.run(name, of, args);
      },
    };
    const states = createMemoryAgentStates();
    const options = { shard: 0, keys, scripts, log, states, clock: quickClock, logger: quiet };
    const epoch = async () => Number(await redis.client.hget(keys.meta, 'epoch'));
    return { keys, log, real, options, epoch };
  }

  test('rule 4, fence: whose shard has a newer epoch takes its node’s fence away before anything else, however often that fails', async () => {
    let failures = 3;
    const { keys, log, real, options, epoch } = startShard(10, (name) => name === 'fence' && failures-- > 0);
    const publisher = new ShardPublisher({ ...options, recoverer: 'a', tailFrom: 0n });
    await log.tail(new Map([[0, 0n]]), (_, record) => publisher.onRecord(record));
    publisher.wake();
    await until(() => publisher.isOpen);
    await log.append(0, [markRecordText(2, 'another recoverer, now dead')]);
    const { name, keys: of, args } = setAda(keys);
    await real.run(name, of, args);
    publisher.wake();
    await until(async () => publisher.isOpen && (await epoch()) === 3);
    // It was decided in an epoch that had ended: nobody was told of it, and it never was.
    expect(await redis.client.scard(keys.agents)).toBe(0);
    publisher.stop();
  });

  test('whose tail began behind its shard’s position reads what lies between', async () => {
    const { keys, log, real, options, epoch } = startShard(11);
    const first = new ShardPublisher({ ...options, recoverer: 'a', tailFrom: 0n });
    first.wake();
    await until(() => first.isOpen);
    first.stop();
    await log.append(0, [markRecordText(2, 'another recoverer, now dead')]);
    const { name, keys: of, args } = setAda(keys);
    await real.run(name, of, args);
    const second = new ShardPublisher({ ...options, recoverer: 'b', tailFrom: 2n });
    await log.tail(new Map([[0, 2n]]), (_, record) => second.onRecord(record));
    second.wake();
    await until(async () => second.isOpen && (await epoch()) === 3);
    expect(await redis.client.scard(keys.agents)).toBe(0);
    second.stop();
  });

  test('that finds its node in an older epoch than the log has that node rebuilt', async () => {
    const { keys, log, options, epoch } = startShard(12);
    const publisher = new ShardPublisher({ ...options, recoverer: 'a', tailFrom: 0n });
    await log.tail(new Map([[0, 0n]]), (_, record) => publisher.onRecord(record));
    publisher.wake();
    await until(() => publisher.isOpen);
    await redis.client.hset(keys.meta, 'epoch', '0');
    publisher.wake();
    await until(async () => publisher.isOpen && (await epoch()) === 2);
    publisher.stop();
  });

  describe('rule 3, log: of several publishers of a shard', () => {
    /** Two processes' publishers, of which the first leads; each may be cut off from Redis, as by its death. */
    async function startTwo(number: number) {
      const shard = startShard(number);
      const dead = new Set<string>();
      const logless = new Set<string>();
      const start = async (recoverer: string): Promise<ShardPublisher> => {
        const publisher = new ShardPublisher({
          ...shard.options,
          clock: systemClock,
          log: {
            ...shard.log,
            append: async (...record) => {
              if (logless.has(recoverer)) throw new Error('no broker answers');
              await shard.log.append(...record);
            },
          },
          scripts: {
            run: async (...call) => {
              if (dead.has(recoverer)) throw new Error('the process is dead');
              return await shard.real.run(...call);
            },
          },
          recoverer,
          tailFrom: 0n,
        });
        await shard.log.tail(new Map([[0, 0n]]), (_, record) => publisher.onRecord(record));
        publisher.wake();
        return publisher;
      };
      const first = await start('first');
      await until(() => first.isOpen);
      const second = await start('second');
      const hasToldAll = async (seq: string) => (await redis.client.hget(shard.keys.meta, 'acked')) === seq;
      const stop = () => Promise.all([first.stop(), second.stop()]);
      return { ...shard, dead, logless, first, second, hasToldAll, stop };
    }

    test('one sends its events, and the others follow', async () => {
      const { keys, log, real, first, second, hasToldAll, stop } = await startTwo(20);
      const { name, keys: of, args } = setAda(keys);
      await real.run(name, of, args);
      for (const publisher of [second, first]) publisher.wake();
      await until(() => hasToldAll('1'));
      expect([first.isLeading, second.isLeading]).toEqual([true, false]);
      expect(log.texts(0)).toHaveLength(2);
      await stop();
    });

    test('another publisher leads after the death of the one that did', async () => {
      const { keys, real, dead, first, second, hasToldAll, stop } = await startTwo(21);
      dead.add('first');
      const { name, keys: of, args } = setAda(keys);
      await real.run(name, of, args);
      await until(async () => {
        for (const publisher of [first, second]) publisher.wake();
        return await hasToldAll('1');
      });
      expect(second.isLeading).toBe(true);
      await stop();
    });

    test('the one that stops leaves it to another at once', async () => {
      const { first, second, stop } = await startTwo(22);
      await first.stop();
      // As the message says that Redis sends with it.
      second.takeOver();
      await until(() => second.isOpen, 1_000);
      await stop();
    });

    test('one whose log fails leaves it to another whose log does not', async () => {
      const { keys, real, logless, first, second, hasToldAll, stop } = await startTwo(23);
      logless.add('first');
      const { name, keys: of, args } = setAda(keys);
      await real.run(name, of, args);
      await until(async () => {
        for (const publisher of [first, second]) publisher.wake();
        return await hasToldAll('1');
      });
      expect([first.isLeading, second.isLeading]).toEqual([false, true]);
      await stop();
    });
  });

  test('rule 11, time: keeps the log’s own clock going where nothing happens, from one publisher', async () => {
    const clock = createFakeClock();
    const keys = new ShardKeys(SEEDS + 30);
    const log = createMemoryLog(1, undefined, () => clock.now());
    const scripts = scriptsAt(redis.client, () => systemClock.now());
    const states = createMemoryAgentStates();
    const options = { shard: 0, keys, scripts, log, states, clock, logger: quiet, tailFrom: 0n };
    const publishers = ['a', 'b'].map((recoverer) => new ShardPublisher({ ...options, recoverer }));
    await log.tail(new Map([[0, 0n]]), (_, record) => {
      for (const publisher of publishers) publisher.onRecord(record);
    });
    for (const publisher of publishers) publisher.wake();
    await until(() => publishers.some(({ isOpen }) => isOpen));
    const openedAtMs = clock.now();
    expect(publishers.map(({ logTimeMs }) => logTimeMs)).toEqual([openedAtMs, openedAtMs]);
    const beats = () => log.texts(0).filter((text) => text === HEARTBEAT_TEXT).length;
    await until(() => {
      clock.advance(SECOND_MS);
      for (const publisher of publishers) publisher.wake();
      return beats() === 2;
    });
    expect(clock.now() - openedAtMs).toBeGreaterThanOrEqual(2 * LOG_HEARTBEAT_MS);
    for (const { logTimeMs } of publishers)
      expect(logTimeMs).toBeGreaterThanOrEqual(openedAtMs + 2 * LOG_HEARTBEAT_MS);
    for (const publisher of publishers) await publisher.stop();
  });

  test('that fails again and again has one timer, and tries no more often for being woken', async () => {
    const clock = createFakeClock();
    let tries = 0;
    const { options } = startShard(13, () => ++tries > 0);
    const publisher = new ShardPublisher({ ...options, clock, recoverer: 'a', tailFrom: 0n });
    for (let i = 0; i < 50; i++) {
      publisher.wake();
      clock.advance(100);
      for (let turns = 0; turns < 5; turns++) await null;
      expect(clock.pendingTimers()).toBeLessThanOrEqual(1);
    }
    expect(tries).toBeLessThanOrEqual(51);
    publisher.stop();
    expect(clock.pendingTimers()).toBe(0);
  });
});
