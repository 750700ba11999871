import { isDeepStrictEqual } from 'node:util';
import type { Kafka } from 'kafkajs';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createCassandraHistoryStore } from '#core/calls/cassandra-history-store.ts';
import { DAY_MS, systemClock } from '#core/clock.ts';
import { connectKafka } from '#core/drivers/kafka.ts';
import type { LedgerEvent } from '#core/events/ledger-event.ts';
import { createCassandraAgentStates } from '#core/ledger/cluster/cassandra-agent-states.ts';
import { openKafkaLedgerLog } from '#core/ledger/cluster/kafka-ledger-log.ts';
import { ensureLedgerTopic, LEDGER_TOPIC } from '#core/ledger/cluster/kafka-ledger-topic.ts';
import { joinKafkaShardGroup, type ShardGroup } from '#core/ledger/cluster/kafka-shard-group.ts';
import type { LedgerLog } from '#core/ledger/cluster/ledger-log.ts';
import { eventRecordText, HEARTBEAT_TEXT, markRecordText } from '#core/ledger/cluster/log-record.ts';
import { foldToEnd, readCopy } from '#core/ledger/cluster/shard-fold.ts';
import { type Projector, startProjector } from '../../workers/projector/projector.ts';
import type { Service } from '../services/service.ts';
import { startKafka } from '../services/start-kafka.ts';
import { useCassandra } from '../support/cassandra-node.ts';
import { testDataDir } from '../support/data-dir.ts';
import { until } from '../support/gateway.ts';
import { drawLedgerEvents } from '../support/ledger-events.ts';
import { createMemoryAgentStates } from '../support/memory-agent-states.ts';
import { chargedIn, createMemoryHistoryStore, type StoredHistory } from '../support/memory-history-store.ts';
import { openProjection, ProjectedShard, readAll } from '../support/projected-shard.ts';
import { expectHistory, readCassandraHistory } from '../support/read-cassandra-history.ts';
import { describeWith } from '../support/with-services.ts';

const SHARDS = 8;
const STEPS = 400;
const PORTION = 10;

/** A history of the agents of one shard. */
const eventsOf = (shard: number, seed: number): LedgerEvent[] =>
  drawLedgerEvents(seed + shard, STEPS).map((event) => ({
    ...event,
    agentId: event.agentId * SHARDS + shard,
  }));

describeWith(['kafka', 'cassandra'], 'projectors that share the shards of a log', () => {
  const node = useCassandra();
  let folder: Awaited<ReturnType<typeof testDataDir>>;
  let broker: Service;
  let kafka: Kafka;
  let log: LedgerLog;
  let errors: string[] = [];
  const running = new Set<TestProjector>();
  let groups = 0;

  beforeAll(async () => {
    folder = await testDataDir();
    broker = await startKafka({ dir: folder.path });
    kafka = connectKafka({ brokers: [broker.address], clientId: 'test', tls: false, sasl: null });
    log = await openKafkaLedgerLog(kafka, {
      shards: SHARDS,
      clock: systemClock,
      logger: { info() {}, warn() {}, error() {} },
    });
  });
  beforeEach(async () => {
    errors = [];
    for (const projector of running) await projector.kill();
    const tables = [
      'ledger_entries',
      'calls_by_agent',
      'calls_by_key',
      'call_agents',
      'call_days',
      'usage_days',
      'videos',
      'video_keys',
    ];
    for (const table of [...tables, 'agent_state', 'shard_ckpt']) {
      await node.client.execute(`TRUNCATE ${table}`, [], { prepare: false });
    }
    // A log of its own for each test.
    const admin = kafka.admin();
    await admin.connect();
    if ((await admin.listTopics()).includes(LEDGER_TOPIC))
      await admin.deleteTopics({ topics: [LEDGER_TOPIC] });
    await until(async () => !(await admin.listTopics()).includes(LEDGER_TOPIC));
    await admin.disconnect();
    await ensureLedgerTopic(kafka, systemClock, {
      shards: SHARDS,
      replicationFactor: 1,
      minInsyncReplicas: 1,
      retentionMs: DAY_MS,
    });
    // On a busy machine its leaders are chosen later than the log's own writes are tried again.
    const hasLeaders = () => log.ends().then(({ size }) => size === SHARDS);
    await until(() => hasLeaders().catch(() => false));
    groups++;
  });
  afterAll(async () => {
    for (const projector of running) await projector.kill();
    await log.close();
    await broker.stop('SIGKILL');
    await folder[Symbol.asyncDispose]();
  });

  interface TestProjector {
    projector: Projector;
    stop(): Promise<void>;
    /** It leaves nothing that it would leave at an orderly end. */
    kill(): Promise<void>;
  }

  async function start(): Promise<TestProjector> {
    const logger = { info() {}, warn() {}, error: (event: string) => void errors.push(event) };
    let group: ShardGroup | null = null;
    const projector = await startProjector({
      join: async (openReader) => {
        const groupId = `projector-${groups}`;
        group = await joinKafkaShardGroup({ kafka, groupId, openReader, clock: systemClock, log: logger });
        return group;
      },
      states: createCassandraAgentStates(node.client),
      history: createCassandraHistoryStore(node.client),
      clock: systemClock,
      log: logger,
    });
    const started: TestProjector = {
      projector,
      async stop() {
        running.delete(started);
        await projector.stop();
      },
      async kill() {
        running.delete(started);
        await group?.stop();
      },
    };
    running.add(started);
    return started;
  }

  /** As the publisher brings them, a few at a time; `onPortion` happens in between. */
  async function appendAll(
    seed: number,
    onPortion: (portion: number) => Promise<void> = async () => {},
  ): Promise<void> {
    const left = Array.from({ length: SHARDS }, (_, shard) => [
      markRecordText(1, 'nonce 1'),
      ...eventsOf(shard, seed).map((event, i) => eventRecordText(1, i + 1, JSON.stringify(event))),
    ]);
    for (let portion = 0; left.some((texts) => texts.length > 0); portion++) {
      await Promise.all(
        left.map(async (texts, shard) => {
          const some = texts.splice(0, PORTION);
          // Sent again, as the publisher does, while the new topic finds its leaders.
          const append = () =>
            log.append(shard, some).then(
              () => true,
              () => false,
            );
          if (some.length > 0) await until(append);
        }),
      );
      await onPortion(portion);
    }
  }

  /** As one projection leaves it that nothing happens to. */
  async function expectedOf(seed: number): Promise<StoredHistory> {
    const history = createMemoryHistoryStore();
    for (let shard = 0; shard < SHARDS; shard++) {
      const projection = await openProjection(shard, { states: createMemoryAgentStates(), history });
      await readAll(projection, new ProjectedShard(shard).append(...eventsOf(shard, seed)));
    }
    return history.stored();
  }

  /** Until it is so, or fails with the difference. */
  async function seesStored(expected: StoredHistory): Promise<void> {
    const isThere = async () => isDeepStrictEqual(await readCassandraHistory(node.client), expected);
    await until(isThere, 60_000).catch(() => undefined);
    await expectHistory(node.client, expected);
  }

  test('lose and double nothing while others join, end and die', async () => {
    const expected = await expectedOf(100);
    const first = await start();
    const rounds: (() => Promise<unknown>)[] = [
      () => start(),
      () => first.kill(),
      () => start(),
      async () => [...running][0]?.stop(),
      async () => [...running][0]?.kill(),
      () => start(),
    ];
    await appendAll(100, async (portion) => {
      if (portion % 2 === 1) await rounds.shift()?.();
    });
    expect(rounds).toHaveLength(0);
    await seesStored(expected);
    for (const projector of running) await projector.stop();
    await expectHistory(node.client, expected);
    const { calls, entries, usage } = chargedIn(await readCassandraHistory(node.client));
    expect([entries, usage]).toEqual([calls, calls]);
  });

  test('share the shards, are not behind once all is written, and leave a checkpoint at the end of each shard', async () => {
    const expected = await expectedOf(200);
    const both = [await start(), await start()];
    const shardsOf = () => both.map(({ projector }) => projector.stats().shards);
    await until(() => shardsOf().every((shards) => shards === SHARDS / 2), 30_000);
    await appendAll(200);
    await seesStored(expected);
    const all = () => both.map(({ projector }) => projector.stats());
    await until(() => all().every(({ lagEvents, lagMs }) => lagEvents === 0 && lagMs === 0));
    expect(all().reduce((sum, { calls }) => sum + calls, 0)).toBeGreaterThanOrEqual(expected.calls.length);
    for (const one of both) await one.stop();
    const ends = await log.ends();
    const states = createCassandraAgentStates(node.client);
    for (const [shard, end] of ends) expect((await states.readCheckpoint(shard))?.offset).toBe(end);
    const admin = kafka.admin();
    await admin.connect();
    const [committed] = await admin.fetchOffsets({ groupId: `projector-${groups}`, topics: [LEDGER_TOPIC] });
    await admin.disconnect();
    for (const { partition, offset } of committed?.partitions ?? []) {
      expect(BigInt(offset)).toBeLessThanOrEqual(ends.get(partition) ?? 0n);
    }
    // What comes next is told from what was there: nothing is counted again.
    await start();
    await until(() => [...running][0]?.projector.stats().shards === SHARDS, 30_000);
    await log.append(0, ['{"v":1,"type":"heartbeat"}']);
    await until(async () => (await log.ends()).get(0) === (ends.get(0) ?? 0n) + 1n);
    await expectHistory(node.client, expected);
    expect(errors).toEqual([]);
  });

  test('stop at a record that nobody can follow, in its shard alone, and say so', async () => {
    const expected = await expectedOf(300);
    const { projector } = await start();
    await until(() => projector.stats().shards === SHARDS, 30_000);
    await log.append(3, ['nonsense']);
    await appendAll(300);
    const isOther = ({ agentId }: { agentId: number }) => agentId % SHARDS !== 3;
    const { calls, entries, usage, videos } = expected;
    await seesStored({
      calls: calls.filter(isOther),
      entries: entries.filter(isOther),
      usage: usage.filter(isOther),
      videos: videos.filter(isOther),
    });
    await until(() => errors.length > 0);
    expect(errors).toEqual(['a shard is stopped, because its log cannot be followed']);
  });

  test('stop at a shard whose log was cut behind its checkpoint, and so does a recovery', async () => {
    await appendAll(500);
    const { projector, stop } = await start();
    const events = Array.from({ length: SHARDS }, (_, shard) => eventsOf(shard, 500)).flat().length;
    await until(() => projector.stats().events === events, 30_000);
    await stop();
    const end = (await log.ends()).get(5) ?? 0n;
    await log.append(5, Array(20).fill(HEARTBEAT_TEXT));
    const admin = kafka.admin();
    await admin.connect();
    await admin.fetchTopicOffsets(LEDGER_TOPIC);
    const partitions = [{ partition: 5, offset: String(end + 10n) }];
    await admin.deleteTopicRecords({ topic: LEDGER_TOPIC, partitions });
    await admin.disconnect();
    expect(errors).toEqual([]);
    await start();
    await until(() => errors.length > 0, 30_000);
    expect(errors).toEqual(['a shard is stopped, because its log cannot be followed']);
    const folded = await readCopy(createCassandraAgentStates(node.client), 5);
    await expect(foldToEnd(log, folded)).rejects.toThrow();
  });

  test('wait for a store that is killed, lose nothing, and say how far they are behind', async () => {
    const expected = await expectedOf(400);
    const { projector } = await start();
    let lagMs = 0;
    await appendAll(400, async (portion) => {
      if (portion === 2) await node.service.stop('SIGKILL');
    });
    await until(() => {
      lagMs = projector.stats().lagMs;
      return lagMs > 1_000;
    }, 30_000);
    node.service = await node.service.restart();
    const answers = () => readCassandraHistory(node.client).then(Boolean, () => false);
    await until(answers, 30_000);
    await seesStored(expected);
    await until(() => projector.stats().lagMs === 0);
    expect(new Set(errors)).toEqual(new Set(['a shard could not be projected, it is tried again']));
  });
});
