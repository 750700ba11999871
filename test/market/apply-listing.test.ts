import { expect, test } from 'vitest';
import { DAY_MS, MINUTE_MS, startOfDayMs } from '#core/clock.ts';
import { createApplyListing } from '../../workers/market/apply-listing.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryMarketStore } from '../support/memory-market-store.ts';
import { listing, marketOf, toBytes } from './market-records.ts';

function setUp() {
  const clock = createFakeClock();
  const store = createMemoryMarketStore();
  const logged: string[] = [];
  const note = (event: string) => void logged.push(event);
  const apply = createApplyListing({ store, clock, log: { info: note, warn: note, error: note } });
  const send = (record: object) => apply(toBytes(record));
  return { clock, store, apply, send, logged };
}

const DONE = { outcome: 'done' };

test('a market of each of the next eight days is listed, whatever comes twice', async () => {
  const { clock, store, send } = setUp();
  const markets = Array.from({ length: 8 }, (_, i) => marketOf(clock.now(), i + 1));
  for (const market of [...markets, ...markets]) expect(await send(listing(market))).toEqual(DONE);
  const listed = await store.readListings();
  expect(listed.map(({ market }) => market).sort()).toEqual(markets);
});

test('the newest version of a market counts, in whatever order they come', async () => {
  const { clock, store, send } = setUp();
  const market = marketOf(clock.now(), 3);
  for (const version of [2, 3, 1]) {
    expect(await send(listing(market, { version, freshPrice: `0.${version}` }))).toEqual(DONE);
  }
  expect(await store.readListings()).toMatchObject([{ version: 3, freshPrice: 300_000_000n }]);
});

const refused: [string, number, object, string][] = [
  ['has ended', 0, {}, 'market: has ended'],
  ['ended long ago', -30, {}, 'market: has ended'],
  ['ends nine days from now', 9, {}, 'market: ends more than 8 days from now'],
  [
    'opens after its end',
    2,
    { opensAt: '2026-11-20T00:00:00.000Z' },
    'opensAt: is not before the end of the market',
  ],
  ['has a tick above a dollar', 2, { priceTick: '1.000000001' }, 'priceTick: is above 1'],
  ['has steps above a thousand dollars', 2, { sizeStep: '1000.01' }, 'sizeStep: is above 1000'],
  ['is of another version of the feed', 2, { v: 2 }, 'v: Invalid input: expected 1'],
];

test.each(refused)('a market that %s is kept apart, and not listed', async (_, days, more, reason) => {
  const { clock, store, send } = setUp();
  expect(await send(listing(marketOf(clock.now(), days), more))).toEqual({ outcome: 'dead_letter', reason });
  expect(await store.readListings()).toEqual([]);
});

test('a writer whose clock is a little ahead around midnight waits for ours', async () => {
  const { clock, store, send } = setUp();
  const midnightMs = startOfDayMs(clock.now()) + DAY_MS;
  const next = listing(marketOf(clock.now(), 9));
  clock.advance(midnightMs - 5 * MINUTE_MS - 1 - clock.now());
  expect(await send(next)).toMatchObject({ outcome: 'dead_letter' });
  clock.advance(1);
  expect(await send(next)).toEqual({ outcome: 'try_again' });
  clock.advance(5 * MINUTE_MS - 1);
  expect(await send(next)).toEqual({ outcome: 'try_again' });
  clock.advance(1);
  expect(await send(next)).toEqual(DONE);
  expect(await store.readListings()).toHaveLength(1);
});

test('a market ends at 00:00 of its day to the millisecond', async () => {
  const { clock, send } = setUp();
  const last = listing(marketOf(clock.now(), 1));
  clock.advance(startOfDayMs(clock.now()) + DAY_MS - 1 - clock.now());
  expect(await send(last)).toEqual(DONE);
  clock.advance(1);
  expect(await send(last)).toMatchObject({ outcome: 'dead_letter', reason: 'market: has ended' });
});

test('while the store is away a listing is tried again, and said so', async () => {
  const { clock, store, send, logged } = setUp();
  store.beforeStep = () => {
    throw new Error('away');
  };
  const market = listing(marketOf(clock.now(), 1));
  expect(await send(market)).toEqual({ outcome: 'try_again' });
  expect(logged).toEqual(['the list of markets cannot be written, it is tried again']);
  store.beforeStep = () => undefined;
  expect(await send(market)).toEqual(DONE);
});

test('a market that the compacted topic forgets is none to keep apart', async () => {
  const { apply } = setUp();
  expect(await apply(Buffer.alloc(0))).toEqual(DONE);
});
