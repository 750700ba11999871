import kafkajs, { type ITopicConfig, type Kafka } from 'kafkajs';
import { type Clock, SECOND_MS, wait } from '../clock.ts';
import { withAdmin } from './kafka.ts';

const LEADERS_MS = 30 * SECOND_MS;
const POLL_MS = SECOND_MS / 20;

/**
 * Creates the missing topics, and resolves once every partition has a leader: a record that is sent earlier would be refused
 * and sent again. Existing topics stay as they are.
 */
export async function ensureTopics(kafka: Kafka, topics: ITopicConfig[], clock: Clock): Promise<void> {
  await withAdmin(kafka, async (admin) => {
    // kafkajs's own wait fails while a broker does not know the topic that it has just created.
    await admin.createTopics({ waitForLeaders: false, topics });
    const names = topics.map(({ topic }) => topic);
    const giveUpAtMs = clock.monotonicMs() + LEADERS_MS;
    for (;;) {
      const known = await admin.fetchTopicMetadata({ topics: names }).catch(() => ({ topics: [] }));
      const partitions = known.topics.flatMap((topic) => topic.partitions);
      if (known.topics.length === names.length && partitions.every(({ leader }) => leader >= 0)) return;
      if (clock.monotonicMs() > giveUpAtMs) throw new Error(`no leaders for all of ${names.join(', ')}`);
      await wait(clock, POLL_MS);
    }
  });
}

/** Rejects unless every one of these topics is there. */
export async function requireTopics(kafka: Kafka, topics: readonly string[]): Promise<void> {
  await withAdmin(kafka, async (admin) => {
    const known = await admin.listTopics();
    const missing = topics.filter((topic) => !known.includes(topic));
    if (missing.length > 0) throw new TopicsMissingError(missing);
  });
}

/** The topics do not exist yet. */
export class TopicsMissingError extends Error {
  override readonly name = 'TopicsMissingError';

  constructor(topics: readonly string[]) {
    super(`it has no topic ${topics.join(', ')}: run faregate migrate`);
  }
}

/** Returns whether Kafka may become reachable without a change. A wrong name, password or certificate needs the operator. */
export const isKafkaAway = (error: unknown): boolean =>
  error instanceof TopicsMissingError ||
  (error instanceof kafkajs.KafkaJSError &&
    awayErrorNames.has(rootOf(error).name) &&
    !/certificate/i.test(rootOf(error).message));

/** kafkajs wraps the last failure in a retry error; this returns the failure. */
function rootOf(error: Error): Error {
  return error instanceof kafkajs.KafkaJSNumberOfRetriesExceeded && error.cause instanceof Error
    ? rootOf(error.cause)
    : error;
}

const awayErrorNames: ReadonlySet<string> = new Set([
  'KafkaJSNumberOfRetriesExceeded',
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSRequestTimeoutError',
  'KafkaJSBrokerNotFound',
  'KafkaJSProtocolError',
]);
