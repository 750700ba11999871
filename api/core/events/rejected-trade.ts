import { z } from 'zod';
import { TRADE_ID_CHARS_MAX } from '../limits.ts';
import { marketId, marketSeq, marketTime } from './market-values.ts';

/** Why a trade has moved nothing. */
export const tradeRejections = [
  /** Nobody has ever given this seller credit. */
  'unknown_seller',
  /** The market's credit had ended before the trade came. */
  'market_ended',
  /** The seller's free credit of this date is less. */
  'seller_lacks_credit',
  /** A trade of this seller has this id, but another date, size or buyer. That one stands. */
  'trade_id_taken',
] as const;
export type TradeRejection = (typeof tradeRejections)[number];

/**
 * A record of `dex.trades.rejected.v1`, keyed by its market: a trade that has moved nothing, and never will. It may come
 * more than once, with the same words each time; `tradeId` tells. `at` is the trade's own.
 */
export const rejectedTrade = z.strictObject({
  v: z.literal(1),
  type: z.literal('trade_rejected'),
  market: marketId,
  seq: marketSeq,
  tradeId: z.string().min(1).max(TRADE_ID_CHARS_MAX),
  reason: z.enum(tradeRejections),
  at: marketTime,
});
export type RejectedTrade = z.infer<typeof rejectedTrade>;
