import type { ITopicConfig, Kafka } from 'kafkajs';
import { type Clock, SECOND_MS, wait } from '../clock.ts';

const LEADERS_MS = 30 * SECOND_MS;
const LOOK_MS = SECOND_MS / 20;

/**
 * Makes the topics that are missing, and resolves once every partition has a leader: what is sent before would be
 * refused, and sent again. Existing topics stay as they are.
 */
export async function ensureTopics(kafka: Kafka, topics: ITopicConfig[], clock: Clock): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    // Not by kafkajs's own wait: a broker that has just made a topic may not know it for a moment, which ends that.
    await admin.createTopics({ waitForLeaders: false, topics });
    const names = topics.map(({ topic }) => topic);
    const giveUpAtMs = clock.monotonicMs() + LEADERS_MS;
    for (;;) {
      const known = await admin.fetchTopicMetadata({ topics: names }).catch(() => ({ topics: [] }));
      const partitions = known.topics.flatMap((topic) => topic.partitions);
      if (known.topics.length === names.length && partitions.every(({ leader }) => leader >= 0)) return;
      if (clock.monotonicMs() > giveUpAtMs) throw new Error(`no leaders for all of ${names.join(', ')}`);
      await wait(clock, LOOK_MS);
    }
  } finally {
    await admin.disconnect();
  }
}
