import type { Candles, MarketList, OrderBook } from './markets.ts';

const market = 'credit-2026-11-30';

export const marketListExample: MarketList = {
  object: 'list',
  markets: [
    {
      id: market,
      base: 'credit',
      quote: 'USDT',
      opens_at: '2026-11-22T00:00:00.000Z',
      ends_at: '2026-11-30T00:00:00.000Z',
      newest: true,
      last_price: '0.851',
      best_bid: '0.85',
      best_ask: '0.852',
      volume_24h: '18250.5',
      price_tick: '0.001',
      size_step: '0.01',
    },
  ],
};

export const orderBookExample: OrderBook = {
  market,
  seq: 48_213,
  time: 1_795_341_600_000,
  bids: [
    { price: '0.85', size: '120.5', orders: 3 },
    { price: '0.849', size: '40', orders: 1 },
  ],
  asks: [{ price: '0.852', size: '75.25', orders: 2 }],
  freshPrice: '0.95',
};

export const candlesExample: Candles = {
  market,
  interval: '1h',
  candles: [
    {
      time: 1_795_338_000_000,
      open: '0.848',
      high: '0.852',
      low: '0.847',
      close: '0.851',
      volume: '1250.5',
      quoteVolume: '1063.175',
      trades: 87,
    },
  ],
};
