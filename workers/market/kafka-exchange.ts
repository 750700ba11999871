import type { Kafka } from 'kafkajs';
import type { z } from 'zod';
import { type Clock, isoTime } from '#core/clock.ts';
import { openProducer } from '#core/drivers/kafka-producer.ts';
import { BOOK_REQUESTS_TOPIC, type wantedSnapshot } from '#core/events/book-record.ts';
import { REJECTED_TRADES_TOPIC } from '#core/events/market-trade.ts';
import type { rejectedTrade } from '#core/events/rejected-trade.ts';
import type { MarketParts } from './market-pipeline.ts';

/** What the exchange is told. Each resolves once every replica in sync has it; rejects where that cannot be known. */
export interface Exchange extends Pick<MarketParts, 'reject' | 'requestSnapshot'> {
  close(): Promise<void>;
}

export async function openKafkaExchange(kafka: Kafka, clock: Clock): Promise<Exchange> {
  const producer = await openProducer(kafka);
  async function tell(topic: string, market: string, record: object): Promise<void> {
    await producer.send({ topic, acks: -1, messages: [{ key: market, value: JSON.stringify(record) }] });
  }
  return {
    reject({ market, seq, tradeId, at }, reason) {
      const record: z.input<typeof rejectedTrade> = {
        ...{ v: 1, type: 'trade_rejected', market, seq, tradeId, reason },
        at: isoTime(at),
      };
      return tell(REJECTED_TRADES_TOPIC, market, record);
    },
    requestSnapshot(market) {
      const at = isoTime(clock.now());
      const record: z.input<typeof wantedSnapshot> = { v: 1, type: 'snapshot_wanted', market, at };
      return tell(BOOK_REQUESTS_TOPIC, market, record);
    },
    close: () => producer.disconnect(),
  };
}
