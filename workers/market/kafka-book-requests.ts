import { type Kafka, Partitioners } from 'kafkajs';
import { type Clock, isoTime } from '#core/clock.ts';
import { BOOK_REQUESTS_TOPIC } from '#core/events/book-record.ts';
import type { Log } from '#core/log.ts';

export interface BookRequests {
  /** Never rejects: who needs the snapshot asks again. */
  request(market: string): Promise<void>;
  close(): Promise<void>;
}

/** Asks the exchange for the snapshot of a book that has stopped. */
export async function openKafkaBookRequests({
  kafka,
  clock,
  log,
}: {
  kafka: Kafka;
  clock: Clock;
  log: Log;
}): Promise<BookRequests> {
  const producer = kafka.producer({
    createPartitioner: Partitioners.DefaultPartitioner,
    allowAutoTopicCreation: false,
  });
  await producer.connect();
  return {
    async request(market) {
      const value = JSON.stringify({ v: 1, type: 'snapshot_wanted', market, at: isoTime(clock.now()) });
      try {
        await producer.send({ topic: BOOK_REQUESTS_TOPIC, acks: -1, messages: [{ key: market, value }] });
      } catch (error) {
        log.warn('the exchange could not be asked for the snapshot of a book', {
          topic: BOOK_REQUESTS_TOPIC,
          error,
        });
      }
    },
    close: () => producer.disconnect(),
  };
}
