import { z } from 'zod';
import { isoTime } from '../clock.ts';
import { type MarketListing, marketListing } from '../events/market-listing.ts';
import { type MarketTrade, marketTrade } from '../events/market-trade.ts';
import { formatDecimal9 } from '../events/market-values.ts';
import { isRecord } from '../is-record.ts';
import type { TradeCursor } from './market-store.ts';

// As stores keep them: listings and trades as the exchange's own records, so that they are checked once more when they are read.

export const printListing = (listing: MarketListing): string =>
  JSON.stringify({
    ...listing,
    opensAt: isoTime(listing.opensAt),
    priceTick: formatDecimal9(listing.priceTick),
    sizeStep: formatDecimal9(listing.sizeStep),
    freshPrice: listing.freshPrice === null ? null : formatDecimal9(listing.freshPrice),
  });
export const parseListing = (text: string): MarketListing => marketListing.parse(JSON.parse(text));

/** Without what stands in each of them, and their market. */
export const printTrade = ({ v, type, market, ...trade }: MarketTrade): string =>
  JSON.stringify({
    ...trade,
    at: isoTime(trade.at),
    price: formatDecimal9(trade.price),
    size: formatDecimal9(trade.size),
  });
export function parseTrade(market: string, text: string): MarketTrade {
  const trade: unknown = JSON.parse(text);
  if (!isRecord(trade)) throw new Error('a stored trade is no object');
  return marketTrade.parse({ v: 1, type: 'traded', market, ...trade });
}

export const printCursor = (cursor: TradeCursor): string => JSON.stringify(cursor);
export const parseCursor = (text: string): TradeCursor => tradeCursor.parse(JSON.parse(text));

const seq = z.int().nonnegative();
const tradeCursor = z.object({
  throughSeq: seq,
  aheadSeqs: z.array(seq),
  givenUp: z.array(z.tuple([seq, seq])),
  generation: z.int().positive(),
  candlesMissing: z.boolean(),
});
