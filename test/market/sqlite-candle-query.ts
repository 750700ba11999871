import { DatabaseSync } from 'node:sqlite';
import type { MarketTrade } from '#core/events/market-trade.ts';
import { type Candle, type CandleInterval, candleIntervals } from '#core/market/candle.ts';

/** The candles of trades once more, by SQL alone: one that has the numbers, prices and sizes, and knows nothing of us. */
export function queryCandles(
  trades: readonly MarketTrade[],
  wanted: readonly CandleInterval[],
): Record<string, Candle[]> {
  const db = new DatabaseSync(':memory:');
  db.exec(
    'CREATE TABLE trades (seq INTEGER PRIMARY KEY, at INTEGER, price INTEGER, size INTEGER) STRICT; BEGIN',
  );
  const insert = db.prepare('INSERT INTO trades VALUES (?, ?, ?, ?)');
  for (const { seq, at, price, size } of trades) insert.run(seq, at, price, size);
  db.exec('COMMIT');
  const candles = wanted.map((interval) => {
    const query = db.prepare(QUERY);
    query.setReadBigInts(true);
    // A plain number would come as a float.
    const rows = query.all(BigInt(candleIntervals[interval]));
    return [interval, rows.map(toCandle)] as const;
  });
  db.close();
  return Object.fromEntries(candles);
}

/** A sum of products would not fit into 64 bits, so it is summed in two halves. */
const QUERY = `
  SELECT time, opening.price AS open, high, low, closing.price AS close, volume, quote_whole, quote_rest, trades
  FROM (
    SELECT at / ?1 * ?1 AS time, min(seq) AS first, max(seq) AS last, max(price) AS high, min(price) AS low,
      sum(size) AS volume, sum(price * size / 1000000000) AS quote_whole,
      sum(price * size % 1000000000) AS quote_rest, count(*) AS trades
    FROM trades GROUP BY time
  )
  JOIN trades AS opening ON opening.seq = first
  JOIN trades AS closing ON closing.seq = last
  ORDER BY time`;

const toCandle = (row: Record<string, unknown>): Candle => {
  const big = (name: string) => BigInt(String(row[name]));
  return {
    timeMs: Number(big('time')),
    openNano: big('open'),
    highNano: big('high'),
    lowNano: big('low'),
    closeNano: big('close'),
    volumeNano: big('volume'),
    quoteVolumeAtto: big('quote_whole') * 1_000_000_000n + big('quote_rest'),
    trades: Number(big('trades')),
  };
};
