import { CompressionTypes, type EachMessagePayload, type Kafka, type Message, Partitioners } from 'kafkajs';
import { systemClock } from '#core/clock.ts';
import { connectKafka } from '#core/drivers/kafka.ts';
import { ensureFeedTopics, feedTopics } from '#core/events/kafka-feed-topics.ts';
import { startKafka } from '../services/start-kafka.ts';
import { testDataDir } from './data-dir.ts';
import { until } from './gateway.ts';

/** A broker with the topics of feeds. */
export interface FeedBroker {
  kafka: Kafka;
  killAndRestart(): Promise<void>;
  /** Its data goes with it. */
  stop(): Promise<void>;
}

export async function startFeedBroker(): Promise<FeedBroker> {
  const folder = await testDataDir();
  let broker = await startKafka({ dir: folder.path });
  const kafka = connectKafka({ brokers: [broker.address], clientId: 'test', tls: false, sasl: null });
  // The second time nothing is left to do.
  await ensureFeedTopics(kafka, systemClock, 1);
  await ensureFeedTopics(kafka, systemClock, 1);
  await untilLed(kafka);
  return {
    kafka,
    async killAndRestart() {
      await broker.stop('SIGKILL');
      broker = await broker.restart();
      await untilLed(kafka);
    },
    async stop() {
      await broker.stop('SIGKILL');
      await folder[Symbol.asyncDispose]();
    },
  };
}

/**
 * Resolves once the only broker leads all feed topics. It names itself as their leader earlier: records that are sent then are
 * refused, or stand twice.
 */
export async function untilLed(kafka: Kafka): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  for (const topic of feedTopics)
    await until(() => admin.fetchTopicOffsets(topic).then(Boolean, () => false), LED_MS);
  await admin.disconnect();
}
const LED_MS = 180_000;

/** As whoever feeds us writes to a topic. */
export async function sendTo(
  kafka: Kafka,
  topic: string,
  messages: Message[],
  compression = CompressionTypes.None,
): Promise<void> {
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  await producer.send({ topic, messages, compression });
  await producer.disconnect();
}

/** Hears all that these topics hold, from their beginning on. Resolves with what ends it. */
export async function follow(
  kafka: Kafka,
  { groupId, topics }: { groupId: string; topics: string[] },
  hear: (payload: EachMessagePayload) => void,
): Promise<() => Promise<void>> {
  const consumer = kafka.consumer({ groupId });
  await consumer.connect();
  await consumer.subscribe({ topics, fromBeginning: true });
  await consumer.run({ eachMessage: async (payload) => hear(payload) });
  return () => consumer.disconnect();
}
