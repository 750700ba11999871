import type { Kafka } from 'kafkajs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { CREDIT_GRANTS_TOPIC } from '#core/events/credit-grant.ts';
import type { HandleRecord, RecordOutcome } from '#core/events/feed-record.ts';
import { type Feed, startKafkaFeed } from '#core/events/kafka-batch-feed.ts';
import { deadLetterTopic } from '#core/events/kafka-dead-letters.ts';
import { type FeedBroker, follow, sendTo, startFeedBroker } from '../support/feed-broker.ts';
import { until } from '../support/gateway.ts';
import { describeWith } from '../support/with-services.ts';

describeWith(['kafka'], 'a feed on Kafka', () => {
  let broker: FeedBroker;
  let kafka: Kafka;
  const feeds: Feed[] = [];
  let groups = 0;
  let deadLetters = 0;
  beforeAll(async () => {
    broker = await startFeedBroker();
    kafka = broker.kafka;
  });
  afterAll(async () => {
    for (const feed of feeds) await feed.stop();
    await broker.stop();
  });

  async function start(groupId: string, handle: HandleRecord): Promise<Feed> {
    const log = { info() {}, warn() {}, error() {} };
    const onDeadLetter = () => void deadLetters++;
    const options = { kafka, topic: CREDIT_GRANTS_TOPIC, groupId, clock: systemClock, log };
    const feed = await startKafkaFeed({ ...options, handle, onRecords: () => undefined, onDeadLetter });
    feeds.push(feed);
    return feed;
  }

  const send = (values: readonly string[]): Promise<void> =>
    sendTo(
      kafka,
      CREDIT_GRANTS_TOPIC,
      values.map((value) => ({ key: '7', value })),
    );

  const newGroup = () => `group-${++groups}`;
  const DONE: RecordOutcome = { outcome: 'done' };

  test('a record is tried until it is dealt with, and the next one waits for it', async () => {
    const seen: string[] = [];
    let away = 2;
    await start(newGroup(), async (bytes) => {
      const text = String(bytes);
      if (text.startsWith('first ')) {
        seen.push(text);
        if (text === 'first 1' && away > 0) {
          away -= 1;
          if (away === 0) throw new Error('a fault');
          return { outcome: 'try_again' };
        }
      }
      return DONE;
    });
    await send(['first 1', 'first 2']);
    await until(() => seen.includes('first 2'), 30_000);
    expect(seen).toEqual(['first 1', 'first 1', 'first 1', 'first 2']);
  });

  test('who takes over begins with the record that was not dealt with, and with none before it', async () => {
    const group = newGroup();
    const first: string[] = [];
    const stuck = await start(group, async (bytes) => {
      const text = String(bytes);
      if (!text.startsWith('second ')) return DONE;
      first.push(text);
      return text === 'second 2' ? { outcome: 'try_again' } : DONE;
    });
    await send(['second 1', 'second 2', 'second 3']);
    await until(() => first.includes('second 2'), 30_000);
    expect(stuck.lagMs()).toBeGreaterThan(0);
    await stuck.stop();
    const later: string[] = [];
    await start(group, async (bytes) => {
      later.push(String(bytes));
      return DONE;
    });
    await until(() => later.includes('second 3'), 30_000);
    expect(later).toEqual(['second 2', 'second 3']);
  });

  test('what nobody can make sense of is kept apart with the reason, and the next record goes on', async () => {
    const seen: string[] = [];
    await start(newGroup(), async (bytes) => {
      const text = String(bytes);
      if (!text.startsWith('third ')) return DONE;
      seen.push(text);
      return text === 'third 1' ? { outcome: 'dead_letter', reason: 'of a stranger' } : DONE;
    });
    const before = deadLetters;
    await send(['third 1', 'third 2']);
    await until(() => seen.includes('third 2'), 30_000);
    expect(deadLetters).toBe(before + 1);
    const kept: unknown[] = [];
    const end = await follow(
      kafka,
      { groupId: newGroup(), topics: [deadLetterTopic(CREDIT_GRANTS_TOPIC)] },
      ({ message: { key, value, headers } }) =>
        void kept.push([String(key), String(value), String(headers?.reason), String(headers?.topic)]),
    );
    await until(() => kept.length > 0, 30_000);
    await end();
    expect(kept).toEqual([['7', 'third 1', 'of a stranger', CREDIT_GRANTS_TOPIC]]);
  });

  test('a broker that is killed and comes back loses no record and no place', async () => {
    const seen: string[] = [];
    const group = newGroup();
    await start(group, async (bytes) => {
      if (String(bytes).startsWith('fourth ')) seen.push(String(bytes));
      return DONE;
    });
    await send(['fourth 1']);
    await until(() => seen.length === 1, 30_000);
    await broker.killAndRestart();
    await send(['fourth 2']);
    await until(() => seen.includes('fourth 2'), 60_000);
    expect([...new Set(seen)]).toEqual(['fourth 1', 'fourth 2']);
  });
});
