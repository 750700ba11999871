import { expect, it } from 'vitest';
import { BOOK_DEPTH_MAX, BOOK_SILENCE_MS, LIVE_CANDLES_MS } from '#core/limits.ts';
import { createRedisLiveMarkets } from '#core/market/redis-live-markets.ts';
import { useRedis } from '../support/redis-server.ts';
import { describeWith } from '../support/with-services.ts';
import { bookOf, candlesOf, liveMarketsContract } from './live-markets-contract.ts';

describeWith(['redis'], 'live markets in a cluster', () => {
  const server = useRedis();
  const open = () => createRedisLiveMarkets(server.client);
  const bookKey = (market: string) => `faregate:market:book:${market}`;
  const candlesKey = (market: string) => `faregate:market:newest:${market}`;

  liveMarketsContract(open);

  it('end by themselves when their writer says nothing any more; what is older keeps nothing alive', async () => {
    const live = open();
    await live.publishBook('silent', bookOf(10));
    await live.publishCandles('silent', candlesOf(1n));
    const leftMs = await server.client.pttl(bookKey('silent'));
    expect(leftMs).toBeGreaterThan(BOOK_SILENCE_MS / 2);
    expect(leftMs).toBeLessThanOrEqual(BOOK_SILENCE_MS);
    const candlesMs = await server.client.pttl(candlesKey('silent'));
    expect(candlesMs).toBeGreaterThan(LIVE_CANDLES_MS / 2);
    expect(candlesMs).toBeLessThanOrEqual(LIVE_CANDLES_MS);
    await server.client.pexpire(bookKey('silent'), 1_000);
    await live.publishBook('silent', bookOf(9));
    await live.publishBook('silent', null);
    expect(await server.client.pttl(bookKey('silent'))).toBeLessThanOrEqual(1_000);
    await live.publishBook('silent', bookOf(10));
    expect(await server.client.pttl(bookKey('silent'))).toBeGreaterThan(1_000);
    await server.client.pexpire(candlesKey('silent'), 1_000);
    await live.publishCandles('silent', candlesOf(1n, { rank: 3 }));
    expect(await server.client.pttl(candlesKey('silent'))).toBeLessThanOrEqual(1_000);
    await server.client.del(bookKey('silent'));
    await live.publishBook('silent', bookOf(1));
    expect(await live.readBook('silent')).toEqual(bookOf(1));
  });

  it('take little room beside the ledger, however long their numbers are', async () => {
    const level = { price: '9999999.999999999', size: '9999999.999999999', orders: Number.MAX_SAFE_INTEGER };
    const side = Array.from({ length: BOOK_DEPTH_MAX }, () => level);
    await open().publishBook('large', { seq: Number.MAX_SAFE_INTEGER, atMs: 0, bids: side, asks: side });
    expect(await server.client.memory('USAGE', bookKey('large'))).toBeLessThan(24_000);
  });

  it('that another release wrote in another way are as if they were not there', async () => {
    const live = open();
    await server.client.hset(bookKey('strange'), 'book', '{"v":9}');
    await server.client.hset(candlesKey('strange'), 'candles', '{"v":9}');
    expect(await live.readBook('strange')).toBeNull();
    expect(await live.readCandles('strange')).toBeNull();
  });

  it('never fill a memory that is full, but a stopped book goes all the same', async () => {
    const live = open();
    await live.publishBook('full', bookOf(1));
    try {
      await server.client.config('SET', 'maxmemory', '1');
      await expect(live.publishBook('full', bookOf(2))).rejects.toThrow(/OOM/);
      await expect(live.publishCandles('full', candlesOf(1n))).rejects.toThrow(/OOM/);
      expect(await live.readBook('full')).toEqual(bookOf(1));
      await live.publishBook('full', null);
      expect(await live.readBook('full')).toBeNull();
    } finally {
      await server.client.config('SET', 'maxmemory', '0');
    }
  });

  it('cannot be read while Redis is away', async () => {
    const live = open();
    await live.publishBook('away', bookOf(1));
    server.client.disconnect();
    expect(await live.readBook('away')).toBe('unavailable');
    expect(await live.readCandles('away')).toBe('unavailable');
    await expect(live.publishBook('away', bookOf(2))).rejects.toThrow();
  });
});
