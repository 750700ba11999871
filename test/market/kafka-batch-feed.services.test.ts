import { type Kafka, Partitioners } from 'kafkajs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { connectKafka } from '#core/drivers/kafka.ts';
import { BOOK_TOPIC } from '#core/events/book-record.ts';
import type { FeedBatch } from '#core/events/feed-record.ts';
import { type Feed, startKafkaBatchFeed } from '#core/events/kafka-batch-feed.ts';
import { ensureFeedTopics } from '#core/events/kafka-feed-topics.ts';
import type { Service } from '../services/service.ts';
import { startKafka } from '../services/start-kafka.ts';
import { testDataDir } from '../support/data-dir.ts';
import { untilLed } from '../support/feed-broker.ts';
import { until } from '../support/gateway.ts';
import { describeWith } from '../support/with-services.ts';

const LATE_MS = 180_000;
const PARTITIONS = 8;

describeWith(['kafka'], 'a feed on Kafka that is read in batches', () => {
  let folder: Awaited<ReturnType<typeof testDataDir>>;
  let broker: Service;
  let kafka: Kafka;
  const feeds: Feed[] = [];
  let written = 0;
  beforeAll(async () => {
    folder = await testDataDir();
    broker = await startKafka({ dir: folder.path });
    kafka = connectKafka({ brokers: [broker.address], clientId: 'test', tls: false, sasl: null });
    await ensureFeedTopics(kafka, systemClock, 1);
    await untilLed(kafka);
  });
  afterAll(async () => {
    for (const feed of feeds) await feed.stop();
    await broker.stop('SIGKILL');
    await folder[Symbol.asyncDispose]();
  });

  /** A handler that keeps no place, as of a book whose snapshot was the first record of all. */
  async function start(groupId: string, isStuck: (partition: number) => boolean = () => false) {
    const seen: string[] = [];
    const forgotten: number[] = [];
    const at = new Set<number>();
    const feed = await startKafkaBatchFeed({
      ...{ kafka, topic: BOOK_TOPIC, groupId, clock: systemClock },
      handler: {
        async handle({ partition, records, atEnd }: FeedBatch) {
          if (isStuck(partition)) return { outcomes: [{ outcome: 'try_again' }], resumeOffset: null };
          for (const { offset } of records) seen.push(`${partition}/${offset}`);
          if (atEnd) at.add(partition);
          return { outcomes: records.map(() => ({ outcome: 'done' })), resumeOffset: null };
        },
        forget: (partition) => void forgotten.push(partition),
      },
      log: { info() {}, warn() {}, error() {} },
      onRecords: () => undefined,
      onDeadLetter: () => undefined,
    });
    feeds.push(feed);
    return { feed, seen, forgotten, at };
  }

  /** As many records to each partition. */
  async function send(each: number): Promise<void> {
    const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
    const messages = Array.from({ length: each * PARTITIONS }, (_, i) => ({
      ...{ value: 'x', partition: i % PARTITIONS },
    }));
    await producer.send({ topic: BOOK_TOPIC, messages });
    await producer.disconnect();
    written += each * PARTITIONS;
  }

  const allDifferent = (seen: readonly string[]): boolean => new Set(seen).size === seen.length;

  test('who keeps a partition reads on in it, and who gets one begins where a successor has to', async () => {
    await send(5);
    const first = await start('shared');
    await until(() => first.seen.length === written, LATE_MS);
    expect(first.at.size).toBe(PARTITIONS);
    const second = await start('shared');
    await until(() => second.seen.length > 0 && first.forgotten.length > 0, LATE_MS);
    await send(2);
    await until(() => new Set([...first.seen, ...second.seen]).size === written, LATE_MS);
    const taken = new Set(first.forgotten);
    await until(() => second.seen.length === (taken.size * written) / PARTITIONS, LATE_MS);
    // Nothing twice to the one that stayed, though no place was ever kept; all of it to the other.
    expect(allDifferent(first.seen)).toBe(true);
    expect(allDifferent(second.seen)).toBe(true);
    expect(taken.size).toBeGreaterThan(0);
    expect(taken.size).toBeLessThan(PARTITIONS);
    expect(new Set(second.seen.map((place) => Number(place.split('/')[0])))).toEqual(taken);
    await second.feed.stop();
    await until(() => first.seen.length > written, LATE_MS);
    await until(() => new Set(first.seen).size === written, LATE_MS);
  });

  test('a partition whose records wait holds up no other, and goes on where it waited', async () => {
    let stuck = true;
    const { seen } = await start('stuck', (partition) => stuck && partition === 3);
    const elsewhere = () => (written * (PARTITIONS - 1)) / PARTITIONS;
    await until(() => seen.length === elsewhere(), LATE_MS);
    for (let i = 0; i < 5; i++) {
      await send(1);
      await until(() => seen.length === elsewhere(), LATE_MS);
    }
    stuck = false;
    await until(() => seen.length === written, LATE_MS);
    expect(allDifferent(seen)).toBe(true);
  });

  test('a broker that is killed and comes back has every record read, those of before it and those of after', async () => {
    const reader = await start('killed');
    await until(() => new Set(reader.seen).size === written, LATE_MS);
    await broker.stop('SIGKILL');
    broker = await broker.restart();
    await untilLed(kafka);
    await send(1);
    await until(() => new Set(reader.seen).size === written, LATE_MS);
  });
});
