import { expect, test } from 'vitest';
import { DAY_MS, systemClock } from '#core/clock.ts';
import { connectKafka } from '#core/drivers/kafka.ts';
import { openKafkaLedgerLog } from '#core/ledger/cluster/kafka-ledger-log.ts';
import { ensureLedgerTopic, LEDGER_TOPIC } from '#core/ledger/cluster/kafka-ledger-topic.ts';
import type { OnRecord } from '#core/ledger/cluster/ledger-log.ts';
import { startKafka } from '../../services/start-kafka.ts';
import { testDataDir } from '../../support/data-dir.ts';
import { describeWith } from '../../support/with-services.ts';

describeWith(['kafka'], 'a log whose oldest records are gone', () => {
  test('is read on from the first one that it has, and keeps no other shard waiting', async () => {
    await using folder = await testDataDir();
    const broker = await startKafka({ dir: folder.path });
    const kafka = connectKafka({ brokers: [broker.address], clientId: 'test', tls: false, sasl: null });
    const topic = { shards: 2, replicationFactor: 1, minInsyncReplicas: 1, retentionMs: DAY_MS };
    await ensureLedgerTopic(kafka, systemClock, topic);
    const logger = { info() {}, warn() {}, error() {} };
    const log = await openKafkaLedgerLog(kafka, { shards: 2, clock: systemClock, logger });
    await log.append(0, ['a', 'b', 'c', 'd']);
    await log.append(1, ['x']);
    const admin = kafka.admin();
    await admin.connect();
    // Else this client knows no leader to ask.
    await admin.fetchTopicOffsets(LEDGER_TOPIC);
    await admin.deleteTopicRecords({ topic: LEDGER_TOPIC, partitions: [{ partition: 0, offset: '2' }] });
    await admin.disconnect();
    const from = new Map([
      [0, 0n],
      [1, 0n],
    ]);
    const read: string[] = [];
    const onRecord: OnRecord = (shard, { offset, bytes }) => void read.push(`${shard} ${offset} ${bytes}`);
    await log.readToEnd(from, onRecord);
    expect(read.sort()).toEqual(['0 2 c', '0 3 d', '1 0 x']);
    const seen: string[] = [];
    const tail = await log.tail(from, (shard, { offset }) => void seen.push(`${shard} ${offset}`));
    await expect.poll(() => seen.toSorted(), { timeout: 10_000 }).toEqual(['0 2', '0 3', '1 0']);
    await tail.stop();
    await log.close();
    await broker.stop('SIGKILL');
  });
});
