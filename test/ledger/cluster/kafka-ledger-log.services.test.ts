import type { Kafka } from 'kafkajs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { connectKafka } from '#core/drivers/kafka.ts';
import { openKafkaLedgerLog } from '#core/ledger/cluster/kafka-ledger-log.ts';
import { ensureLedgerTopic } from '#core/ledger/cluster/kafka-ledger-topic.ts';
import type { LedgerLog } from '#core/ledger/cluster/ledger-log.ts';
import type { Service } from '../../services/service.ts';
import { startKafka } from '../../services/start-kafka.ts';
import { testDataDir } from '../../support/data-dir.ts';
import { describeWith } from '../../support/with-services.ts';

describeWith(['kafka'], 'the log on Kafka', () => {
  let folder: Awaited<ReturnType<typeof testDataDir>>;
  let broker: Service;
  let kafka: Kafka;
  let log: LedgerLog;
  beforeAll(async () => {
    folder = await testDataDir();
    broker = await startKafka({ dir: folder.path });
    kafka = connectKafka({ brokers: [broker.address], clientId: 'test', tls: false, sasl: null });
    await ensureLedgerTopic(kafka, systemClock, {
      shards: 4,
      replicationFactor: 1,
      minInsyncReplicas: 1,
      retentionMs: 86_400_000,
    });
    log = await openKafkaLedgerLog(kafka, {
      shards: 4,
      clock: systemClock,
      logger: { info() {}, warn() {}, error() {} },
    });
  });
  afterAll(async () => {
    await log.close();
    await broker.stop('SIGKILL');
    await folder[Symbol.asyncDispose]();
  });

  test('what is appended is read back in its order, from any offset, and by a tail', async () => {
    const seen: string[] = [];
    const ends = await log.ends();
    const tail = await log.tail(new Map([[1, ends.get(1) ?? 0n]]), (shard, record) => {
      seen.push(`${shard} ${record.bytes}`);
    });
    await log.append(1, ['a', 'b']);
    await log.append(2, ['x']);
    await log.append(1, ['c']);
    await expect.poll(() => seen, { timeout: 10_000 }).toEqual(['1 a', '1 b', '1 c']);
    await tail.stop();
    const read: string[] = [];
    const onRecord = (shard: number, record: { bytes: Buffer; offset: bigint }) =>
      void read.push(`${shard} ${record.bytes} ${record.offset >= 0n}`);
    await log.readToEnd(new Map([[1, (ends.get(1) ?? 0n) + 1n]]), onRecord);
    expect(read).toEqual(['1 b true', '1 c true']);
  });
});
