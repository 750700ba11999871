import { z } from 'zod';
import { marketId, marketTime, price, size } from './market-values.ts';

export const MARKETS_TOPIC = 'dex.markets.v1';

/**
 * A record of `dex.markets.v1`, keyed by its market and compacted: what a market is, and what the operator asks for
 * fresh credit in it. The newest version counts. A market closes by itself, on the date in its id at 00:00 UTC.
 */
export const marketListing = z.strictObject({
  v: z.literal(1),
  type: z.literal('market_listed'),
  market: marketId,
  /** What is not above the last one is old, and ignored. */
  version: z.int().positive(),
  opensAt: marketTime,
  priceTick: price,
  sizeStep: size,
  /** USDT for a dollar of credit of any size; counts only in the newest market. */
  freshPrice: price.nullable(),
});
export type MarketListing = z.infer<typeof marketListing>;
