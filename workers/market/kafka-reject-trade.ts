import { type Kafka, Partitioners } from 'kafkajs';
import type { z } from 'zod';
import { isoTime } from '#core/clock.ts';
import { type MarketTrade, REJECTED_TRADES_TOPIC } from '#core/events/market-trade.ts';
import type { rejectedTrade, TradeRejection } from '#core/events/rejected-trade.ts';

export interface Rejections {
  /** Resolves once every replica in sync has it; rejects where that cannot be known. */
  reject(trade: MarketTrade, reason: TradeRejection): Promise<void>;
  close(): Promise<void>;
}

/** Tells the exchange of trades that have moved nothing. */
export async function openKafkaRejections(kafka: Kafka): Promise<Rejections> {
  const producer = kafka.producer({
    createPartitioner: Partitioners.DefaultPartitioner,
    allowAutoTopicCreation: false,
  });
  await producer.connect();
  return {
    async reject({ market, seq, tradeId, at }, reason) {
      const record: z.input<typeof rejectedTrade> = {
        ...{ v: 1, type: 'trade_rejected', market, seq, tradeId, reason },
        at: isoTime(at),
      };
      const messages = [{ key: market, value: JSON.stringify(record) }];
      await producer.send({ topic: REJECTED_TRADES_TOPIC, acks: -1, messages });
    },
    close: () => producer.disconnect(),
  };
}
