import type { Kafka } from 'kafkajs';
import { AGENTS_TOPIC } from './agent-change.ts';
import { CREDIT_GRANTS_TOPIC } from './credit-grant.ts';
import { deadLetterTopic } from './kafka-feed.ts';

const FEEDS = [CREDIT_GRANTS_TOPIC, AGENTS_TOPIC] as const;
const PARTITIONS = 8;

/** Makes the topics that are missing, and those of what is kept apart; existing ones stay as they are. */
export async function ensureFeedTopics(kafka: Kafka, replicationFactor: number): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    await admin.createTopics({
      waitForLeaders: true,
      topics: FEEDS.flatMap((topic) => [
        { topic, numPartitions: PARTITIONS, replicationFactor },
        { topic: deadLetterTopic(topic), numPartitions: 1, replicationFactor },
      ]),
    });
  } finally {
    await admin.disconnect();
  }
}
