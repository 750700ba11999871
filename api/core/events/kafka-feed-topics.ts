import type { ITopicConfig, Kafka } from 'kafkajs';
import { type Clock, DAY_MS } from '../clock.ts';
import { ensureTopics } from '../drivers/kafka-topics.ts';
import { BOOK_RECORD_BYTES_MAX, LOG_KEPT_MS } from '../limits.ts';
import { AGENTS_TOPIC } from './agent-change.ts';
import { BOOK_REQUESTS_TOPIC, BOOK_TOPIC } from './book-record.ts';
import { CREDIT_GRANTS_TOPIC } from './credit-grant.ts';
import { deadLetterTopic } from './kafka-dead-letters.ts';
import { MARKETS_TOPIC } from './market-listing.ts';
import { REJECTED_TRADES_TOPIC, TRADES_TOPIC } from './market-trade.ts';

/** How long changes of a book are kept in the log. They are useless after a newer snapshot. */
const BOOK_LOG_KEPT_MS = DAY_MS;

const PARTITIONS = 8;
/** Room for a record's key, its headers, and those of its batch, beside its value. */
const ENVELOPE_BYTES = 64 * 1024;

/** Topics that other systems write. */
const feeds: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  [CREDIT_GRANTS_TOPIC]: {},
  [AGENTS_TOPIC]: {},
  [MARKETS_TOPIC]: { 'cleanup.policy': 'compact' },
  // Credit moves by them: an outage of weeks loses none.
  [TRADES_TOPIC]: { 'retention.ms': String(LOG_KEPT_MS) },
  [BOOK_TOPIC]: {
    'retention.ms': String(BOOK_LOG_KEPT_MS),
    'max.message.bytes': String(BOOK_RECORD_BYTES_MAX + ENVELOPE_BYTES),
  },
};
/** Topics that the gateway writes for the exchange. */
const answers = [BOOK_REQUESTS_TOPIC, REJECTED_TRADES_TOPIC];

/** All topics between the exchange, the operator's systems and the gateway. */
export const feedTopics: readonly string[] = [...Object.keys(feeds), ...answers];

/** Creates the missing feed topics, and a dead-letter topic for each feed. Existing topics stay as they are. */
export const ensureFeedTopics = (kafka: Kafka, clock: Clock, replicationFactor: number): Promise<void> =>
  ensureTopics(
    kafka,
    [
      ...Object.entries(feeds).flatMap(([topic, config]): ITopicConfig[] => [
        {
          topic,
          numPartitions: PARTITIONS,
          replicationFactor,
          configEntries: Object.entries(config).map(([name, value]) => ({ name, value })),
        },
        { topic: deadLetterTopic(topic), numPartitions: 1, replicationFactor },
      ]),
      ...answers.map((topic) => ({ topic, numPartitions: 1, replicationFactor })),
    ],
    clock,
  );
