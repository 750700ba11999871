import { DAY_MS, isoTime } from '#core/clock.ts';
import { LOT_DAYS_MAX } from '#core/limits.ts';

/** As the exchange writes them, in the shape of the wire. */
export const listing = (market: string, more: object = {}) => ({
  v: 1,
  type: 'market_listed',
  market,
  version: 1,
  opensAt: opening(market),
  priceTick: '0.001',
  sizeStep: '0.01',
  freshPrice: null,
  ...more,
});

export const trade = (market: string, seq: number, more: object = {}) => ({
  v: 1,
  type: 'traded',
  market,
  seq,
  tradeId: `${market}-${seq}`,
  at: opening(market),
  price: '0.9',
  size: '1',
  sellerAgentId: 1,
  buyerAgentId: 2,
  ...more,
});

export const snapshot = (market: string, seq: number, more: object = {}) => ({
  v: 1,
  type: 'book_snapshot',
  market,
  seq,
  at: opening(market),
  bids: [{ price: '0.9', size: '10', orders: 2 }],
  asks: [{ price: '0.91', size: '5', orders: 1 }],
  ...more,
});

export const bookChange = (market: string, seq: number, more: object = {}) => ({
  v: 1,
  type: 'book_changed',
  market,
  seq,
  at: opening(market),
  changes: [{ side: 'bid', price: '0.9', size: String(seq), orders: 1 }],
  ...more,
});

/** The first time at which its credit can be there: it has passed, whatever the day and the minute of the test. */
const opening = (market: string): string =>
  isoTime(Date.parse(`${market.slice(-10)}T00:00:00.000Z`) - LOT_DAYS_MAX * DAY_MS);

/** Whose credit ends so many days after the day of this time. */
export const marketOf = (nowMs: number, days: number): string =>
  `credit-${isoTime(nowMs + days * DAY_MS).slice(0, 10)}`;

export const toBytes = (record: unknown): Buffer => Buffer.from(JSON.stringify(record));
