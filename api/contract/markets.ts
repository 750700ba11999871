import { z } from 'zod';
import { isoTime } from '#core/clock.ts';
import type { MarketListing } from '#core/events/market-listing.ts';
import { formatDecimal9 } from '#core/events/market-values.ts';
import {
  BOOK_DEPTH_DEFAULT,
  BOOK_DEPTH_MAX,
  CANDLES_DEFAULT,
  CANDLES_MAX,
  MARKET_WEIGHTS,
  SHALLOW_BOOK_DEPTH,
} from '#core/limits.ts';
import type { BookView } from '#core/market/book-view.ts';
import { type Candle, intervals } from '#core/market/candle.ts';
import { formatAttoUsd } from '#core/money.ts';

/* Only the document is made from the schemas: answers are written once a second and are not parsed again. */

const marketId = () =>
  z.string().meta({
    description: 'A name and the date on which its credit ends, at 00:00 UTC.',
    examples: ['credit-2026-11-30'],
  });
const decimal = (description: string, example: string) =>
  z.string().meta({ description: `${description}, exact.`, examples: [example] });
const price = (description = 'USDT for a dollar of credit') => decimal(description, '0.85');
const size = (description = 'Dollars of credit') => decimal(description, '120.5');
const timeMs = (description: string) =>
  z.int().meta({ description: `${description}, in milliseconds since 1970, UTC.` });

const BookLevel = z
  .object({
    price: price(),
    size: size('Dollars of credit at this price'),
    orders: z.int().positive().meta({ description: 'How many orders they are of.' }),
  })
  .meta({ id: 'BookLevel' });

/** Spec: Order book. */
export const OrderBook = z
  .object({
    market: marketId(),
    seq: z.int().positive().meta({ description: 'Number of the last change: higher is newer.' }),
    time: timeMs('When the book was read'),
    bids: z.array(BookLevel).meta({ description: 'The highest price first.' }),
    asks: z.array(BookLevel).meta({
      description: "The lowest price first. The operator's offer of fresh credit is not among them.",
    }),
    freshPrice: price()
      .nullable()
      .meta({
        description:
          "The operator's price for fresh credit, for any size, in the newest market: never below the best bid, and never " +
          'above 1. Null in other markets, and where none is offered.',
      }),
  })
  .meta({ id: 'OrderBook' });
export type OrderBook = z.infer<typeof OrderBook>;

const CandleEntry = z
  .object({
    time: timeMs('Where its interval starts'),
    open: price(),
    high: price(),
    low: price(),
    close: price(),
    volume: size(),
    quoteVolume: decimal('USDT paid', '102.425'),
    trades: z.int().positive(),
  })
  .meta({ id: 'Candle' });

const interval = z.enum(intervals);

/** Spec: Candles. */
export const Candles = z
  .object({
    market: marketId(),
    interval,
    candles: z.array(CandleEntry).meta({
      description:
        'One for each interval that had trades, the oldest first. The newest can change until its interval ends.',
    }),
  })
  .meta({ id: 'Candles' });
export type Candles = z.infer<typeof Candles>;

const MarketEntry = z
  .object({
    id: marketId(),
    base: z.literal('credit'),
    quote: z.literal('USDT'),
    opens_at: z.iso.datetime(),
    ends_at: z.iso.datetime().meta({ description: 'The market closes, and its credit ends.' }),
    newest: z.boolean().meta({ description: 'Of the open ones, the one that ends last.' }),
    last_price: price().nullable().meta({ description: 'Of the last trade; null before the first.' }),
    best_bid: price().nullable().meta({ description: 'Null where nobody bids, or the book has stopped.' }),
    best_ask: price().nullable().meta({ description: 'Null where nobody asks, or the book has stopped.' }),
    volume_24h: size('Dollars of credit that were traded in the last 24 hours'),
    price_tick: decimal('Step of the prices that the exchange takes', '0.001'),
    size_step: decimal('Step of the sizes that the exchange takes, in dollars', '0.01'),
  })
  .meta({ id: 'Market' });

export const MarketList = z
  .object({
    object: z.literal('list'),
    markets: z.array(MarketEntry).meta({ description: 'Those that are open, the first to end first.' }),
  })
  .meta({ id: 'MarketList' });
export type MarketList = z.infer<typeof MarketList>;

const inPath = { id: marketId() };

export const BookParameters = z.object({
  ...inPath,
  depth: z
    .int()
    .min(1)
    .max(BOOK_DEPTH_MAX)
    .default(BOOK_DEPTH_DEFAULT)
    .meta({
      description:
        `Levels of each side. A book weighs ${MARKET_WEIGHTS.book} up to a depth of ${SHALLOW_BOOK_DEPTH}, ` +
        `and ${MARKET_WEIGHTS.deepBook} above.`,
    }),
});

export const CandlesParameters = z.object({
  ...inPath,
  interval: interval.default('1h').meta({ description: 'How long one candle is, on the UTC clock.' }),
  limit: z.int().min(1).max(CANDLES_MAX).default(CANDLES_DEFAULT).meta({
    description: 'How many intervals back, with the present one; of those without trades there is no candle.',
  }),
});

export interface BookFacts {
  market: string;
  view: BookView;
  depth: number;
  readAtMs: number;
  freshPriceNano: bigint | null;
}

export const shapeBook = ({ market, view, depth, readAtMs, freshPriceNano }: BookFacts): OrderBook => ({
  market,
  seq: view.seq,
  time: readAtMs,
  bids: view.bids.slice(0, depth),
  asks: view.asks.slice(0, depth),
  freshPrice: freshPriceNano === null ? null : formatDecimal9(freshPriceNano),
});

export const shapeCandle = (row: Candle): Candles['candles'][number] => ({
  time: row.timeMs,
  open: formatDecimal9(row.openNano),
  high: formatDecimal9(row.highNano),
  low: formatDecimal9(row.lowNano),
  close: formatDecimal9(row.closeNano),
  volume: formatDecimal9(row.volumeNano),
  quoteVolume: formatAttoUsd(row.quoteVolumeAtto),
  trades: row.trades,
});

export interface MarketFacts {
  listing: MarketListing;
  endsAtMs: number;
  isNewest: boolean;
  /** `null`: there is none to be shown. */
  book: BookView | null;
  lastPriceNano: bigint | null;
  volume24hNano: bigint;
}

export const shapeMarkets = (markets: readonly MarketFacts[]): MarketList => ({
  object: 'list',
  markets: markets.map(({ listing, endsAtMs, isNewest, book, lastPriceNano, volume24hNano }) => ({
    id: listing.market,
    base: 'credit',
    quote: 'USDT',
    opens_at: isoTime(listing.opensAt),
    ends_at: isoTime(endsAtMs),
    newest: isNewest,
    last_price: lastPriceNano === null ? null : formatDecimal9(lastPriceNano),
    best_bid: book?.bids[0]?.price ?? null,
    best_ask: book?.asks[0]?.price ?? null,
    volume_24h: formatDecimal9(volume24hNano),
    price_tick: formatDecimal9(listing.priceTick),
    size_step: formatDecimal9(listing.sizeStep),
  })),
});
