import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { BOOK_TOPIC } from '#core/events/book-record.ts';
import { TRADES_TOPIC } from '#core/events/market-trade.ts';
import { observeFeedLag } from '../../workers/market/observe-market.ts';

test('an operator sees which reader of which topic is behind, and by how long now', async () => {
  const registry = new Registry();
  const lag = { books: 0, candles: 250, moves: 90_000 };
  observeFeedLag(registry, [
    { name: 'books', topic: BOOK_TOPIC, feed: { lagMs: () => lag.books } },
    { name: 'candles', topic: TRADES_TOPIC, feed: { lagMs: () => lag.candles } },
    { name: 'moves', topic: TRADES_TOPIC, feed: { lagMs: () => lag.moves } },
  ]);
  const read = async () => (await registry.metrics()).split('\n').filter((line) => line.includes('{'));
  const line = (topic: string, reader: string, ms: number) =>
    `faregate_feed_lag_ms{topic="${topic}",reader="${reader}"} ${ms}`;
  const [books, candles] = [line(BOOK_TOPIC, 'books', 0), line(TRADES_TOPIC, 'candles', 250)];
  expect(await read()).toEqual([books, candles, line(TRADES_TOPIC, 'moves', 90_000)]);
  lag.moves = 0;
  expect(await read()).toEqual([books, candles, line(TRADES_TOPIC, 'moves', 0)]);
});
