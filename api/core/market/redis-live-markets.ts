import { z } from 'zod';
import { isRedisUnavailable, type RedisClient } from '../drivers/redis.ts';
import { BOOK_ANEW_MS, BOOK_SILENCE_MS, LIVE_CANDLES_MS } from '../limits.ts';
import { intervals, ofEachInterval } from './candle.ts';
import { parseCandle, printCandle } from './candle-text.ts';
import type { LiveMarkets } from './live-markets.ts';

const bookKey = (market: string): string => `faregate:market:book:${market}`;
const candlesKey = (market: string): string => `faregate:market:newest:${market}`;

/**
 * KEYS[1]: the last book, its seq and its time. ARGV: seq, time, book, for how long, how far times are apart where the
 * exchange counts anew. An older book does not replace a newer one (`isOlderBook`), as of a writer that has not noticed
 * yet that another has taken over; nor does it keep it alive.
 */
const PUBLISH = `#!lua
local last = redis.call('HMGET', KEYS[1], 'seq', 'at')
local later = tonumber(ARGV[2]) - tonumber(last[2] or 0)
if math.abs(later) > tonumber(ARGV[5]) then
  if later < 0 then return 0 end
elseif tonumber(last[1] or 0) > tonumber(ARGV[1]) then return 0 end
redis.call('HSET', KEYS[1], 'seq', ARGV[1], 'at', ARGV[2], 'book', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
`;

/** KEYS[1]: the last candles, their generation and rank. ARGV: generation, rank, candles, for how long. As of books. */
const PUBLISH_CANDLES = `#!lua
local last = redis.call('HMGET', KEYS[1], 'generation', 'rank')
local newer = tonumber(ARGV[1]) - tonumber(last[1] or 0)
if newer == 0 then newer = tonumber(ARGV[2]) - tonumber(last[2] or 0) end
if newer < 0 then return 0 end
redis.call('HSET', KEYS[1], 'generation', ARGV[1], 'rank', ARGV[2], 'candles', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
`;

/** KEYS[1]: the last book. What was shown goes, however full Redis is; its seq stays for as long as it would have been shown. */
const HIDE = `#!lua flags=allow-oom
return redis.call('HDEL', KEYS[1], 'book')
`;

/**
 * Beside the ledger, whose memory it must never fill: a book has at most some 16 KB, the candles of a market some 150 KB,
 * of at most `BOOKS_MAX` markets, and all of it ends by itself. Where Redis is full nothing of this is written.
 */
export const createRedisLiveMarkets = (redis: RedisClient): LiveMarkets => ({
  async publishBook(market, book) {
    const key = bookKey(market);
    if (book === null) await redis.eval(HIDE, 1, key);
    else {
      const { seq, atMs } = book;
      await redis.eval(PUBLISH, 1, key, seq, atMs, JSON.stringify(book), BOOK_SILENCE_MS, BOOK_ANEW_MS);
    }
  },
  readBook: (market) => read(redis.hget(bookKey(market), 'book'), bookJson),
  async publishCandles(market, candles) {
    const { generation, rank } = candles;
    const newest = ofEachInterval((interval) => candles.newest[interval].map(printCandle));
    const text = JSON.stringify({ ...candles, newest }, bigintsAsText);
    await redis.eval(PUBLISH_CANDLES, 1, candlesKey(market), generation, rank, text, LIVE_CANDLES_MS);
  },
  readCandles: (market) => read(redis.hget(candlesKey(market), 'candles'), candlesJson),
});

/** What another release wrote and this one cannot read is as if it were not there. */
async function read<T>(
  reply: Promise<string | null>,
  schema: z.ZodType<T>,
): Promise<T | null | 'unavailable'> {
  try {
    const text = await reply;
    return text === null ? null : (schema.safeParse(JSON.parse(text)).data ?? null);
  } catch (error) {
    if (isRedisUnavailable(error)) return 'unavailable';
    throw error;
  }
}

const bigintsAsText = (_name: string, value: unknown): unknown =>
  typeof value === 'bigint' ? value.toString() : value;

const level = z.object({ price: z.string(), size: z.string(), orders: z.int() });
const bookJson = z.object({ seq: z.int(), atMs: z.int(), bids: z.array(level), asks: z.array(level) });

const whole = z.stringFormat('whole', /^\d+$/).transform(BigInt);
const candleText = z.string().transform((text, context) => {
  const row = parseCandle(text);
  if (row === null) context.addIssue('is no candle');
  return row ?? z.NEVER;
});
const candlesJson = z.object({
  generation: z.int(),
  rank: z.int(),
  newest: z.record(z.enum(intervals), z.array(candleText)),
  olderVersion: z.string(),
  lastPriceNano: whole.nullable(),
  volume24hNano: whole,
});
