import { isoTime } from '#core/clock.ts';
import type { FeedBatch } from '#core/events/feed-record.ts';
import { formatUsd } from '#core/money.ts';
import { day, START_MS } from '../ledger/case.ts';

/** The market whose credit ends n days after the start. */
export const marketOf = (days: number): string => `credit-${isoTime(day(days)).slice(0, 10)}`;

export interface TradeFields {
  market: string;
  seq: number;
  tradeId: string;
  sellerAgentId: number;
  buyerAgentId: number;
  nanoUsd: bigint;
}

/** As the exchange writes it. */
export function tradeRecord(fields: Partial<TradeFields> = {}): Record<string, unknown> {
  const { nanoUsd = 5n, seq = 1, ...others } = fields;
  return {
    ...{ v: 1, type: 'traded', market: marketOf(8), seq, tradeId: `t${seq}`, at: isoTime(START_MS) },
    ...{ price: '0.97', size: formatUsd(nanoUsd), sellerAgentId: 1, buyerAgentId: 2 },
    ...others,
  };
}

/** Records of one partition, the first one at this place. */
export function batchOf(records: readonly unknown[], first = 0n): FeedBatch {
  return {
    partition: 0,
    records: records.map((record, i) => ({
      offset: first + BigInt(i),
      bytes: Buffer.from(typeof record === 'string' ? record : JSON.stringify(record)),
    })),
  };
}
