import type { Kafka } from 'kafkajs';
import { openProducer } from '../drivers/kafka-producer.ts';
import type { Log } from '../log.ts';
import type { ApartRecord } from './batch-reader.ts';

/** The largest part of a record that a dead letter repeats. */
const DEAD_LETTER_BYTES_MAX = 64 * 1024;

export interface DeadLetters {
  /** Resolves once it is safe there. */
  keep(record: ApartRecord): Promise<void>;
  close(): Promise<void>;
}

export const deadLetterTopic = (topic: string): string => `${topic}.dlq`;

/** Where the records of a topic go that its reader cannot make sense of, with the reason and where they stood. */
export async function openDeadLetters(options: {
  kafka: Kafka;
  topic: string;
  /** Two groups that read one topic may both keep a record apart. */
  groupId: string;
  log: Log;
}): Promise<DeadLetters> {
  const { kafka, topic, groupId, log } = options;
  const producer = await openProducer(kafka);
  return {
    async keep({ partition, offset, key, bytes, reason }) {
      const place = { topic, partition: String(partition), offset: String(offset) };
      // The broker would refuse a record of 10 MB; the whole of it stands in its own topic, at this place.
      const cut = bytes.length > DEAD_LETTER_BYTES_MAX ? { 'cut-from-bytes': String(bytes.length) } : {};
      await producer.send({
        topic: deadLetterTopic(topic),
        acks: -1,
        messages: [
          {
            key: key?.subarray(0, DEAD_LETTER_BYTES_MAX) ?? null,
            value: bytes.subarray(0, DEAD_LETTER_BYTES_MAX),
            headers: { reason, ...place, group: groupId, ...cut },
          },
        ],
      });
      log.error('a record of a feed was kept apart', {
        topic,
        shard: partition,
        offset: String(offset),
        cause: reason,
      });
    },
    close: () => producer.disconnect(),
  };
}
