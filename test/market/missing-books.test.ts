import { describe, expect, it, test } from 'vitest';
import { DAY_MS, HOUR_MS, isoTime } from '#core/clock.ts';
import { BOOK_REQUEST_MS, BOOK_SILENCE_MS, BOOKS_MAX } from '#core/limits.ts';
import { createMemoryLiveMarkets } from '#core/market/memory-live-markets.ts';
import { createMarketPipeline } from '../../workers/market/market-pipeline.ts';
import { askForMissingBooks } from '../../workers/market/missing-books.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryLedger } from '../support/memory-ledger.ts';
import { createMemoryMarketStore } from '../support/memory-market-store.ts';
import { flush } from './keeper-world.ts';
import { bookChange, listing, marketOf, snapshot, toBytes } from './market-records.ts';

/** Workers over the same stores, each with the partitions of books that it was given. */
function createWorkers() {
  const clock = createFakeClock();
  const startMs = clock.monotonicMs();
  const store = createMemoryMarketStore();
  const live = createMemoryLiveMarkets(clock);
  const asked: { market: string; atMs: number }[] = [];
  const warnings: string[] = [];
  const log = { info() {}, warn: (event: string) => void warnings.push(event), error() {} };
  const requestSnapshot = async (market: string) =>
    void asked.push({ market, atMs: clock.monotonicMs() - startMs });

  function start(partitions: number[]) {
    const ledger = createMemoryLedger({ clock });
    const reject = async () => {};
    const pipeline = createMarketPipeline({ store, live, ledger, reject, requestSnapshot, clock, log });
    const isOurs = () => partitions.includes(0);
    const asking = askForMissingBooks({ find: pipeline.missingBooks, isOurs, requestSnapshot, clock, log });
    const handlerOf = (name: string) => pipeline.readers.find((reader) => reader.name === name)?.handler;
    return {
      partitions,
      pipeline,
      async take(reader: 'listings' | 'books', partition: number, record: object) {
        const records = [{ offset: 0n, bytes: toBytes(record) }];
        const taken = await handlerOf(reader)?.handle({ partition, records });
        expect(taken?.outcomes).toEqual([{ outcome: 'done' }]);
        await flush();
      },
      lose(partition: number) {
        partitions.splice(partitions.indexOf(partition), 1);
        handlerOf('books')?.forget(partition);
      },
      async stop() {
        await asking.stop();
        await pipeline.stop();
      },
    };
  }

  async function pass(ms: number) {
    for (let left = ms; left > 0; left -= 250) {
      clock.advance(250);
      for (let n = 0; n < 4; n++) await flush();
    }
  }
  const market = marketOf(clock.now(), 3);
  return { clock, store, live, asked, warnings, market, start, pass };
}

describe('a listed, open market of which there is no book', () => {
  it('is asked for by one worker, every few seconds until the book is there, whoever keeps it then', async () => {
    const { asked, market, start, pass } = createWorkers();
    const [first, second] = [start([0, 1]), start([2, 3])];
    await first.take('listings', 0, listing(market));
    await pass(2 * BOOK_REQUEST_MS);
    expect(asked).toEqual([
      { market, atMs: BOOK_REQUEST_MS },
      { market, atMs: 2 * BOOK_REQUEST_MS },
    ]);
    await second.take('books', 3, snapshot(market, 7));
    await pass(6 * BOOK_REQUEST_MS);
    expect(asked).toHaveLength(2);
    await Promise.all([first.stop(), second.stop()]);
  });

  it('is asked for after a takeover that finds no record of it, so that readers do not wait for its next trade', async () => {
    const { asked, live, market, start, pass } = createWorkers();
    const [first, second] = [start([1]), start([0])];
    await first.take('listings', 0, listing(market));
    await first.take('books', 1, snapshot(market, 7));
    await pass(4 * BOOK_REQUEST_MS);
    expect([asked, (await live.readBook(market)) === null]).toEqual([[], false]);
    first.lose(1);
    second.partitions.push(1);
    await pass(BOOK_SILENCE_MS + BOOK_REQUEST_MS);
    expect(await live.readBook(market)).toBeNull();
    expect(new Set(asked.map((each) => each.market))).toEqual(new Set([market]));
    await second.take('books', 1, snapshot(market, 7));
    await pass(BOOK_REQUEST_MS);
    expect(await live.readBook(market)).toMatchObject({ seq: 7 });
    await Promise.all([first.stop(), second.stop()]);
  });

  it('is asked for no more often where it is kept and has stopped', async () => {
    const { asked, market, start, pass } = createWorkers();
    const only = start([0]);
    await only.take('listings', 0, listing(market));
    await only.take('books', 0, bookChange(market, 9));
    await pass(2 * BOOK_REQUEST_MS);
    expect(asked.map(({ atMs }) => atMs)).toEqual([0, BOOK_REQUEST_MS, 2 * BOOK_REQUEST_MS]);
    await only.stop();
  });

  it('is asked for as soon as the list can be read again', async () => {
    const { asked, store, warnings, market, start, pass } = createWorkers();
    const only = start([0]);
    await only.take('listings', 0, listing(market));
    store.beforeRead = () => {
      throw new Error('away');
    };
    await pass(2 * BOOK_REQUEST_MS);
    expect([asked, warnings.length]).toEqual([[], 2]);
    store.beforeRead = () => {};
    await pass(BOOK_REQUEST_MS);
    expect(asked).toHaveLength(1);
    await only.stop();
  });
});

test('nobody asks for the book of a market that is not open, or while nobody knows whether there is one', async () => {
  const { clock, asked, live, store, market, start, pass } = createWorkers();
  const only = start([0]);
  await only.take('listings', 0, listing(market, { opensAt: isoTime(clock.now() + HOUR_MS) }));
  await pass(BOOK_REQUEST_MS);
  expect(asked).toEqual([]);
  clock.set(clock.now() + HOUR_MS);
  const readBook = live.readBook;
  live.readBook = async () => 'unavailable';
  await pass(BOOK_REQUEST_MS);
  expect(asked).toEqual([]);
  live.readBook = readBook;
  await pass(BOOK_REQUEST_MS);
  expect(asked.map((each) => each.market)).toEqual([market]);
  clock.set(clock.now() + 4 * DAY_MS);
  await pass(BOOK_REQUEST_MS);
  expect([asked.length, (await store.readListings()).length]).toEqual([1, 1]);
  await only.stop();
  expect(clock.pendingTimers()).toBe(0);
});

test('however many markets are listed, no more are asked for at a time than books are kept', async () => {
  const { clock, asked, store, market, start, pass } = createWorkers();
  const only = start([0]);
  const terms = { opensAt: clock.now(), priceTick: 1n, sizeStep: 1n, freshPrice: null };
  for (let i = 0; i <= BOOKS_MAX; i++) {
    const id = { market: `m${i}-${market}`, version: 1 };
    await store.putListing({ v: 1, type: 'market_listed', ...id, ...terms });
  }
  await pass(BOOK_REQUEST_MS);
  expect(asked).toHaveLength(BOOKS_MAX);
  await only.stop();
});
