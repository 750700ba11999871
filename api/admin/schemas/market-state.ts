import { z } from 'zod';

const price = () => z.string().nullable().meta({ description: 'USDT for a dollar of credit.' });

export const MarketState = z
  .object({
    id: z.string(),
    opens_at: z.iso.datetime(),
    ends_at: z.iso.datetime().meta({ description: 'Its credit ends then, and it closes.' }),
    open: z.boolean(),
    newest: z.boolean().meta({ description: 'Of the open ones, the one in which fresh credit has a price.' }),
    last_price: price(),
    best_bid: price(),
    best_ask: price(),
    fresh_price: price(),
    volume_24h: z.string().meta({ description: 'Dollars of credit.' }),
    book_seq: z.int().nullable().meta({
      description:
        'Of the book as it is served, at most some seconds old; null: it has stopped, or there is none yet.',
    }),
    trade_seq: z.int().meta({ description: 'The newest trade that is in candles; 0: there is none.' }),
    price_tick: z.string(),
    size_step: z.string(),
  })
  .meta({ id: 'MarketState' });
export type MarketState = z.infer<typeof MarketState>;

export const MarketStateList = z
  .object({
    markets: z.array(MarketState).meta({ description: 'The one that ends last is first.' }),
    fed_by: z.enum(['requests', 'kafka']).meta({
      description: 'How records of markets come: by `POST /feeds/{topic}`, or over Kafka to a cluster.',
    }),
  })
  .meta({ id: 'MarketStateList' });
export type MarketStateList = z.infer<typeof MarketStateList>;
