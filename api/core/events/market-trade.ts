import { z } from 'zod';
import { TRADE_ID_CHARS_MAX } from '../limits.ts';
import { fedAgentId } from './fed-agent-id.ts';
import { marketId, marketSeq, marketTime, price, size } from './market-values.ts';

export const TRADES_TOPIC = 'dex.trades.v1';
/** Written by us: trades whose seller lacks the credit. They are the exchange's problem. */
export const REJECTED_TRADES_TOPIC = 'dex.trades.rejected.v1';

/** A record of `dex.trades.v1`, keyed by its market: a seller's dated credit goes to a buyer. */
export const marketTrade = z.strictObject({
  v: z.literal(1),
  type: z.literal('traded'),
  market: marketId,
  seq: marketSeq,
  /** Of all markets: the same id again moves nothing. */
  tradeId: z.string().min(1).max(TRADE_ID_CHARS_MAX),
  at: marketTime,
  price,
  size,
  sellerAgentId: fedAgentId,
  buyerAgentId: fedAgentId,
});
export type MarketTrade = z.infer<typeof marketTrade>;
