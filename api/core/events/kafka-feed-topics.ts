import type { Kafka } from 'kafkajs';
import type { Clock } from '../clock.ts';
import { ensureTopics } from '../drivers/kafka-topics.ts';
import { AGENTS_TOPIC } from './agent-change.ts';
import { CREDIT_GRANTS_TOPIC } from './credit-grant.ts';
import { deadLetterTopic } from './kafka-feed.ts';

const FEEDS = [CREDIT_GRANTS_TOPIC, AGENTS_TOPIC] as const;
const PARTITIONS = 8;

/** Makes the topics that are missing, and those of what is kept apart; existing ones stay as they are. */
export const ensureFeedTopics = (kafka: Kafka, clock: Clock, replicationFactor: number): Promise<void> =>
  ensureTopics(
    kafka,
    FEEDS.flatMap((topic) => [
      { topic, numPartitions: PARTITIONS, replicationFactor },
      { topic: deadLetterTopic(topic), numPartitions: 1, replicationFactor },
    ]),
    clock,
  );
