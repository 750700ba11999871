import type { Kafka } from 'kafkajs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY_MS, systemClock } from '#core/clock.ts';
import { connectKafka } from '#core/drivers/kafka.ts';
import { openKafkaLedgerLog } from '#core/ledger/cluster/kafka-ledger-log.ts';
import {
  checkLedgerTopic,
  ensureLedgerTopic,
  requireSafeLedgerTopic,
} from '#core/ledger/cluster/kafka-ledger-topic.ts';
import type { LedgerLog } from '#core/ledger/cluster/ledger-log.ts';
import type { Service } from '../../services/service.ts';
import { startKafka } from '../../services/start-kafka.ts';
import { testDataDir } from '../../support/data-dir.ts';
import { until } from '../../support/gateway.ts';
import { describeWith } from '../../support/with-services.ts';

const SHARDS = 4;

describeWith(['kafka'], 'the log on Kafka', () => {
  let folder: Awaited<ReturnType<typeof testDataDir>>;
  let broker: Service;
  let kafka: Kafka;
  let log: LedgerLog;
  const warned: string[] = [];
  beforeAll(async () => {
    folder = await testDataDir();
    broker = await startKafka({ dir: folder.path });
    kafka = connectKafka({ brokers: [broker.address], clientId: 'test', tls: false, sasl: null });
    const safe = { replicationFactor: 1, minInsyncReplicas: 1, retentionMs: DAY_MS };
    await ensureLedgerTopic(kafka, systemClock, { shards: SHARDS, ...safe });
    const logger = { info() {}, warn: (event: string) => void warned.push(event), error() {} };
    log = await openKafkaLedgerLog(kafka, { shards: SHARDS, clock: systemClock, logger });
  });
  afterAll(async () => {
    await log.close();
    await broker.stop('SIGKILL');
    await folder[Symbol.asyncDispose]();
  });

  const end = async (shard: number): Promise<bigint> => (await log.ends()).get(shard) ?? 0n;

  async function readFrom(shard: number, offset: bigint): Promise<string[]> {
    const read: string[] = [];
    await log.readToEnd(new Map([[shard, offset]]), (of, record) => void read.push(`${of} ${record.bytes}`));
    return read;
  }

  /** As a publisher does it. */
  async function appendInTheEnd(shard: number, text: string): Promise<void> {
    await until(
      () =>
        log.append(shard, [text]).then(
          () => true,
          () => false,
        ),
      60_000,
    );
  }

  test('what is appended is read back in its order, from any offset, and by a tail', async () => {
    const seen: string[] = [];
    const from = await end(1);
    const tail = await log.tail(new Map([[1, from]]), (shard, record) => {
      seen.push(`${shard} ${record.bytes}`);
    });
    await log.append(1, ['a', 'b']);
    await log.append(2, ['x']);
    await log.append(1, ['c']);
    await expect.poll(() => seen, { timeout: 10_000 }).toEqual(['1 a', '1 b', '1 c']);
    await tail.stop();
    expect(await readFrom(1, from + 1n)).toEqual(['1 b', '1 c']);
    expect(await readFrom(1, from + 3n)).toEqual([]);
  });

  test('a record that Kafka refuses fails its own shard, not those that were sent with it', async () => {
    const from = [await end(0), await end(1), await end(2)];
    // Whose leader is known by now, so that they go together.
    await Promise.all([0, 1, 2].map((shard) => log.append(shard, ['before'])));
    const told = await Promise.allSettled([
      log.append(0, ['small']),
      log.append(1, ['x'.repeat(2 * 1024 * 1024)]),
      log.append(2, ['small too']),
    ]);
    expect(told.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    // What was sent with it may be stored twice: its place tells that it counts once.
    expect(new Set(await readFrom(0, from[0] ?? 0n))).toEqual(new Set(['0 before', '0 small']));
    expect(await readFrom(1, from[1] ?? 0n)).toEqual(['1 before']);
    expect(new Set(await readFrom(2, from[2] ?? 0n))).toEqual(new Set(['2 before', '2 small too']));
  });

  test('rule 11, time: what is read has the time of its append, by the broker’s clock', async () => {
    const from = await end(0);
    const beforeMs = Date.now();
    await log.append(0, ['a']);
    const times: number[] = [];
    await log.readToEnd(new Map([[0, from]]), (_, record) => void times.push(record.appendedAtMs));
    expect(times).toHaveLength(1);
    expect(times[0]).toBeGreaterThanOrEqual(beforeMs);
    expect(times[0]).toBeLessThanOrEqual(Date.now());
  });

  test('is read without a group, which would take seconds to form and could be lost', async () => {
    const tail = await log.tail(new Map([[1, 0n]]), () => {});
    await readFrom(1, 0n);
    const admin = kafka.admin();
    await admin.connect();
    expect((await admin.listGroups()).groups).toEqual([]);
    await admin.disconnect();
    await tail.stop();
  });

  test('rule 5, recovery: a read from before the log’s beginning begins later, and its offsets say so', async () => {
    await log.append(3, ['a', 'b', 'c']);
    const admin = kafka.admin();
    await admin.connect();
    await admin.fetchTopicOffsets('ledger.v1');
    await admin.deleteTopicRecords({ topic: 'ledger.v1', partitions: [{ partition: 3, offset: '2' }] });
    await admin.disconnect();
    const offsets: bigint[] = [];
    await log.readToEnd(new Map([[3, 0n]]), (_, { offset }) => void offsets.push(offset));
    expect(offsets).toEqual([2n]);
    expect(await readFrom(3, 2n)).toEqual(['3 c']);
  });

  test('a tail misses nothing and repeats nothing over a broker’s kill', async () => {
    const from = await end(2);
    const seen: bigint[] = [];
    const texts = new Set<string>();
    const tail = await log.tail(new Map([[2, from]]), (_, record) => {
      seen.push(record.offset);
      texts.add(String(record.bytes));
    });
    await log.append(2, ['before']);
    await broker.stop('SIGKILL');
    await expect(log.append(2, ['while it is away'])).rejects.toThrow();
    broker = await broker.restart();
    await appendInTheEnd(2, 'after');
    await until(() => texts.has('after'), 30_000);
    expect(texts.has('before')).toBe(true);
    expect(seen).toEqual(seen.map((_, i) => from + BigInt(i)));
    await tail.stop();
  });

  test('a tail goes on after a broker that did not answer for longer than any request waits', async () => {
    const from = await end(2);
    const texts: string[] = [];
    const tail = await log.tail(new Map([[2, from]]), (_, record) => void texts.push(String(record.bytes)));
    await appendInTheEnd(2, 'before');
    await until(() => texts.includes('before'), 30_000);
    warned.splice(0);
    broker.signal('SIGSTOP');
    await until(() => warned.length > 0, 30_000);
    broker.signal('SIGCONT');
    await appendInTheEnd(2, 'after');
    await until(() => texts.includes('after'), 30_000);
    expect(new Set(warned)).toEqual(new Set(['the log cannot be followed, it is tried again']));
    await tail.stop();
  });

  test('its topic is told from a safe one in sentences, and refused unless the operator allows it', async () => {
    const problems = await checkLedgerTopic(kafka, SHARDS);
    expect(problems.map(({ sentence }) => sentence.split(':')[0])).toEqual([
      'ledger.v1 has 1 replica',
      'ledger.v1 has min.insync.replicas=1',
      'ledger.v1 keeps its records for 24 hours',
    ]);
    await expect(requireSafeLedgerTopic(kafka, { shards: SHARDS, allowUnsafe: false })).rejects.toThrow(
      /has 1 replica:/,
    );
    expect(await requireSafeLedgerTopic(kafka, { shards: SHARDS, allowUnsafe: true })).toHaveLength(3);
    await expect(requireSafeLedgerTopic(kafka, { shards: 64, allowUnsafe: true })).rejects.toThrow(
      /has 4 partitions instead of 64/,
    );
  });
});
