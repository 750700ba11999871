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
  WITH placed AS (
    SELECT *, at / :length * :length AS time,
      first_value(price) OVER one AS open,
      last_value(price) OVER one AS close
    FROM trades
    WINDOW one AS (
      PARTITION BY at / :length ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    )
  )
  SELECT time, min(open) AS open, max(price) AS high, min(price) AS low, min(close) AS close, sum(size) AS volume,
    sum(price * size / 1000000000) AS quote_whole, sum(price * size % 1000000000) AS quote_rest, count(*) AS trades
  FROM placed GROUP BY time ORDER BY time`.replaceAll(':length', '?1');

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
