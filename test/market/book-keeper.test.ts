import { describe, expect, it, test } from 'vitest';
import { DAY_MS, isoTime, SECOND_MS } from '#core/clock.ts';
import { BOOK_PUBLISH_MS, BOOK_RECORD_BYTES_MAX, BOOK_REQUEST_MS, BOOKS_MAX } from '#core/limits.ts';
import type { BookView } from '#core/market/book-view.ts';
import { BOOK_IN_FUTURE_MAX_MS, BookKeeper } from '../../workers/market/book-keeper.ts';
import { BOOK_REPEAT_MS, BOOK_SNAPSHOT_AGE_MS } from '../../workers/market/book-replica.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { bytesOf, type Change, changed, MARKET, snapshot } from './book-records.ts';
import { createKeeperWorld, flush, type KeeperWorld } from './keeper-world.ts';

const bid: Change = ['bid', '0.99', '1', 1];
const done = { outcome: 'done' };
const seqs = ({ told }: KeeperWorld) => told.map(({ book }) => book?.seq ?? null);
const of = (market: string, written: object) => ({ ...written, market });

describe('what readers are told', () => {
  it(`is a changed book at most every ${BOOK_PUBLISH_MS} ms, as it is by then`, async () => {
    const world = createKeeperWorld();
    await world.send(snapshot(1));
    for (let seq = 2; seq <= 1_001; seq++) {
      await world.send(changed(seq, bid));
      if (seq % 10 === 0) await world.pass(10);
    }
    await world.pass(BOOK_PUBLISH_MS);
    expect(seqs(world)).toEqual([250, 500, 750, 1_000, 1_001]);
    const gaps = world.told.map(({ atMs }, i) => atMs - (world.told[i - 1]?.atMs ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(BOOK_PUBLISH_MS);
    expect(world.told.at(-1)?.book?.bids).toEqual([{ price: '0.99', size: '1', orders: 1 }]);
  });

  it(`is an unchanged book again every ${BOOK_REPEAT_MS} ms, so that they know that its writer lives`, async () => {
    const world = createKeeperWorld();
    await world.send(snapshot(1));
    await world.pass(5 * BOOK_REPEAT_MS);
    expect(world.told.map(({ atMs }) => atMs)).toEqual([250, 1_250, 2_250, 3_250, 4_250]);
    expect(new Set(seqs(world))).toEqual(new Set([1]));
  });

  it('is at once that a book has stopped, and every second that it still has', async () => {
    const world = createKeeperWorld();
    await world.send(snapshot(1));
    await world.pass(BOOK_PUBLISH_MS);
    await world.send(changed(3, bid));
    expect(seqs(world)).toEqual([1, null]);
    expect(world.told[1]?.atMs).toBe(BOOK_PUBLISH_MS);
    expect(world.keeper.stoppedMarkets).toEqual([MARKET]);
    await world.pass(BOOK_REPEAT_MS);
    expect(seqs(world)).toEqual([1, null, null]);
    await world.send(snapshot(3));
    await world.pass(BOOK_PUBLISH_MS);
    expect(seqs(world)).toEqual([1, null, null, 3]);
    expect(world.keeper.stoppedMarkets).toEqual([]);
    expect(world.logged).toEqual([
      'a book begins with a snapshot',
      'a book has stopped until its next snapshot',
      'a book begins with a snapshot',
    ]);
  });

  it('is nothing of a stop that the same batch has ended', async () => {
    const world = createKeeperWorld();
    await world.send(snapshot(1), changed(3, bid), snapshot(3));
    await world.pass(BOOK_PUBLISH_MS);
    expect(seqs(world)).toEqual([3]);
    expect(world.asked).toEqual([]);
  });

  it('is told again soon where it could not be told, and logged once', async () => {
    const world = createKeeperWorld();
    world.away.live = true;
    await world.send(snapshot(1));
    await world.pass(2 * SECOND_MS);
    await world.send(changed(3, bid));
    expect(world.told).toEqual([]);
    expect(world.logged.filter((event) => event.startsWith('a book cannot be shown'))).toHaveLength(1);
    world.away.live = false;
    await world.pass(BOOK_PUBLISH_MS);
    expect(seqs(world)).toEqual([null]);
  });

  it('never overtakes itself: while one telling hangs there is no other', async () => {
    const clock = createFakeClock();
    const told: (BookView | null)[] = [];
    let answer = () => {};
    const keeper = new BookKeeper({
      live: {
        publishBook(_, book) {
          told.push(book);
          return new Promise((resolve) => {
            answer = resolve;
          });
        },
      },
      requestSnapshot: async () => {},
      clock,
      log: { info() {}, warn() {}, error() {} },
    });
    const bytes = (written: object) => Buffer.from(JSON.stringify(written));
    await keeper.handle({ partition: 0, records: [{ offset: 0n, bytes: bytes(snapshot(1)) }] });
    clock.advance(BOOK_PUBLISH_MS);
    await keeper.handle({ partition: 0, records: [{ offset: 1n, bytes: bytes(changed(3, bid)) }] });
    clock.advance(10 * SECOND_MS);
    expect(told.map((book) => book?.seq)).toEqual([1]);
    answer();
    await flush();
    clock.advance(BOOK_PUBLISH_MS);
    expect(told.slice(1)).toEqual([null]);
    const stopped = keeper.stop();
    answer();
    await stopped;
    expect(clock.pendingTimers()).toBe(0);
  });

  it('is nothing more once the keeper was stopped', async () => {
    const world = createKeeperWorld();
    await world.send(snapshot(1));
    await world.keeper.stop();
    expect(world.clock.pendingTimers()).toBe(0);
    await world.pass(10 * SECOND_MS);
    expect(world.told).toEqual([]);
  });
});

describe('a snapshot is asked for', () => {
  it(`at once when a book stops, and every ${BOOK_REQUEST_MS} ms until it comes`, async () => {
    const world = createKeeperWorld();
    await world.send(snapshot(1), changed(3, bid));
    await world.pass(2 * BOOK_REQUEST_MS);
    expect(world.asked.map(({ atMs }) => atMs)).toEqual([0, BOOK_REQUEST_MS, 2 * BOOK_REQUEST_MS]);
    await world.send(snapshot(3));
    await world.pass(4 * BOOK_REQUEST_MS);
    expect(world.asked).toHaveLength(3);
  });

  it('no more often when a book stops again and again', async () => {
    const world = createKeeperWorld();
    let seq = 1;
    for (let i = 0; i < 100; i++) {
      await world.send(snapshot(seq));
      seq += 2;
      await world.send(changed(seq, bid));
      await world.pass(100);
    }
    expect(world.asked.length).toBeLessThanOrEqual(3);
  });

  it('not again while the asking hangs', async () => {
    const clock = createFakeClock();
    let asked = 0;
    let answer = () => {};
    const keeper = new BookKeeper({
      live: { publishBook: async () => {} },
      requestSnapshot() {
        asked += 1;
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
      clock,
      log: { info() {}, warn() {}, error() {} },
    });
    const bytes = Buffer.from(JSON.stringify(changed(1, bid)));
    await keeper.handle({ partition: 0, records: [{ offset: 0n, bytes }] });
    clock.advance(3 * BOOK_REQUEST_MS);
    expect(asked).toBe(1);
    answer();
    await flush();
    clock.advance(BOOK_PUBLISH_MS);
    expect(asked).toBe(2);
    answer();
    await keeper.stop();
  });

  it('again though the asking failed', async () => {
    const world = createKeeperWorld();
    world.away.exchange = true;
    await world.send(changed(1, bid));
    await world.pass(BOOK_REQUEST_MS);
    expect(world.asked).toHaveLength(2);
  });

  it('when changes come that no snapshot came before, and nothing is shown until then', async () => {
    const world = createKeeperWorld();
    const { outcomes, resumeOffset } = await world.send(changed(7, bid), changed(8, bid));
    expect({ outcomes, resumeOffset }).toEqual({ outcomes: [done, done], resumeOffset: null });
    expect(seqs(world)).toEqual([null]);
    expect(world.asked).toEqual([{ market: MARKET, atMs: 0 }]);
  });

  it('when the last one is old, so that a successor has little to read', async () => {
    const world = createKeeperWorld();
    await world.send(snapshot(1));
    await world.pass(BOOK_SNAPSHOT_AGE_MS - BOOK_PUBLISH_MS);
    expect(world.asked).toEqual([]);
    await world.pass(BOOK_PUBLISH_MS);
    expect(world.asked).toHaveLength(1);
    const { resumeOffset } = await world.send(snapshot(1));
    expect(resumeOffset).toBe(1n);
    await world.pass(BOOK_SNAPSHOT_AGE_MS - BOOK_PUBLISH_MS);
    expect(world.asked).toHaveLength(1);
  });
});

describe('a record that is wrong', () => {
  const price40 = '1'.repeat(40);
  const bad: [string, object | string, RegExp][] = [
    ['no JSON', '{"v":1', /^the record is no JSON$/],
    ['an unknown version', { ...snapshot(2), v: 2 }, /^v: /],
    ['an unknown type', { ...snapshot(2), type: 'secret' }, /^type: /],
    ['an unknown key', { ...snapshot(2), secret: 1 }, /^the record: has keys that are not known$/],
    ['an unknown market', of('secret', snapshot(2)), /^market: is no id of a market$/],
    ['no day', of('secret-2026-02-30', snapshot(2)), /^market: is no id of a market$/],
    ['a seq of 0', changed(0, bid), /^seq: /],
    ['a seq that is no whole number', changed(1.5, bid), /^seq: /],
    ['no change', changed(2), /^changes: /],
    ['a negative size', changed(2, ['bid', '1', '-1', 1]), /^changes.0.size: is no size$/],
    ['a price of 0', changed(2, ['bid', '0', '1', 1]), /^changes.0.price: is no price above 0$/],
    ['a price of 40 digits', changed(2, ['bid', price40, '1', 1]), /^changes.0.price: is no price/],
    ['ten decimals', changed(2, ['bid', '0.0000000001', '1', 1]), /^changes.0.price: is no price/],
    [
      'a price as a number',
      { ...changed(2), changes: [{ side: 'bid', price: 1, size: '1', orders: 1 }] },
      /price: /,
    ],
    ['an exponent', changed(2, ['bid', '1e1', '1', 1]), /^changes.0.price: is no price/],
    ['negative orders', changed(2, ['bid', '1', '1', -1]), /^changes.0.orders: /],
    ['an empty level', snapshot(2, { bids: [['1', '0', 1]] }), /^bids.0.size: is no size above 0$/],
    ['1,001 changes', changed(2, ...Array.from({ length: 1_001 }, () => bid)), /^changes: /],
    ['a time of a far future', { ...changed(2, bid), at: '2099-01-01T00:00:00Z' }, /^at: is in the future$/],
    ['a crossed snapshot', snapshot(2, { bids: [['2', '1', 1]], asks: [['1', '1', 1]] }), /best bid/],
  ];

  it.each(bad)(
    'is kept apart with a reason that repeats nothing of it, and stops its book: %s',
    async (_, written, reason) => {
      const world = createKeeperWorld();
      await world.send(snapshot(1));
      const record = typeof written === 'string' ? Buffer.from(written) : written;
      const { outcomes } = await world.send(record);
      expect(outcomes).toEqual([{ outcome: 'dead_letter', reason: expect.stringMatching(reason) }]);
      expect(JSON.stringify(outcomes)).not.toMatch(/secret|-1|1111/);
      expect(seqs(world)).toEqual([null]);
      await world.send(snapshot(2));
      await world.pass(BOOK_PUBLISH_MS);
      expect(seqs(world)).toEqual([null, 2]);
    },
  );

  it('is none because the clock of the exchange is ahead by minutes', async () => {
    const world = createKeeperWorld();
    const at = isoTime(world.clock.now() + BOOK_IN_FUTURE_MAX_MS);
    const { outcomes } = await world.send({ ...snapshot(1), at }, { ...changed(2, bid), at });
    expect(outcomes).toEqual([done, done]);
    await world.pass(BOOK_PUBLISH_MS);
    expect(seqs(world)).toEqual([2]);
  });

  it('is not even read when it is larger than any snapshot', async () => {
    const world = createKeeperWorld();
    const { outcomes } = await world.send(Buffer.alloc(BOOK_RECORD_BYTES_MAX + 1, '['));
    expect(outcomes).toEqual([{ outcome: 'dead_letter', reason: 'the record is too large' }]);
  });

  it('stops no other book, and none where nobody knows whose it was', async () => {
    const world = createKeeperWorld();
    await world.send(snapshot(1), of('other-2026-11-25', snapshot(1)));
    await world.send(Buffer.from('{'));
    expect(world.keeper.stoppedMarkets).toEqual([MARKET]);
    const keyless = { offset: 9n, bytes: Buffer.from('{'), key: null };
    await world.keeper.handle({ partition: 0, records: [keyless] });
    expect(world.keeper.stoppedMarkets).toEqual([MARKET]);
  });

  it('is one that stands among those of another market, or of none: two would keep its book', async () => {
    const world = createKeeperWorld();
    const other = 'other-2026-11-25';
    await world.send(snapshot(1), of(other, snapshot(1)));
    await world.pass(BOOK_PUBLISH_MS);
    const stray = (written: object, key: Buffer | null) =>
      world.keeper.handle({ partition: 1, records: [{ offset: 9n, bytes: bytesOf(written), key }] });
    const apart = { outcome: 'dead_letter', reason: 'market: is not what the record is keyed by' };
    expect((await stray(of('third-2026-11-25', changed(7, bid)), null)).outcomes).toEqual([apart]);
    expect((await stray(of('third-2026-11-25', snapshot(7)), Buffer.from(other))).outcomes).toEqual([apart]);
    await world.pass(BOOK_REPEAT_MS);
    // It may have been a change of the one that it is keyed by.
    expect(world.keeper.stoppedMarkets).toEqual([other]);
    expect(world.told.some(({ market }) => market.startsWith('third'))).toBe(false);
    expect(world.told.findLast(({ market }) => market === MARKET)?.book).not.toBeNull();
  });

  it('is one of a date on which no credit can end: its book would stand in the place of another for years', async () => {
    const world = createKeeperWorld();
    const far = ['m-2026-11-27', 'm-2026-12-31', 'm-9999-12-31'];
    const { outcomes } = await world.send(...far.map((market) => of(market, snapshot(1))));
    const reason = 'market: ends more than 8 days from now';
    expect(outcomes).toEqual(far.map(() => ({ outcome: 'dead_letter', reason })));
    // Credit of the new day is there for a writer whose clock is a little ahead.
    world.clock.set(Date.UTC(2026, 10, 18, 23, 55));
    expect((await world.send(of('m-2026-11-27', snapshot(1)))).outcomes).toEqual([done]);
    await world.pass(BOOK_PUBLISH_MS);
    expect([...new Set(world.told.map(({ market }) => market))]).toEqual(['m-2026-11-27']);
  });

  it('is one of a market more than are kept', async () => {
    const world = createKeeperWorld();
    const markets = Array.from({ length: BOOKS_MAX + 1 }, (_, i) => of(`m${i}-2026-11-25`, snapshot(1)));
    const { outcomes } = await world.send(...markets);
    expect(outcomes.filter(({ outcome }) => outcome === 'done')).toHaveLength(BOOKS_MAX);
    expect(outcomes.at(-1)).toEqual({
      outcome: 'dead_letter',
      reason: 'there are more markets than books are kept',
    });
  });
});

test('a market that has ended is told of no more, and what comes of it is dropped', async () => {
  const world = createKeeperWorld();
  await world.send(snapshot(1), of('other-2026-11-26', snapshot(1)));
  world.clock.set(Date.UTC(2026, 10, 25) - BOOK_PUBLISH_MS);
  await world.pass(BOOK_PUBLISH_MS);
  expect(new Set(world.told.map(({ market }) => market))).toEqual(new Set(['other-2026-11-26']));
  const { outcomes, resumeOffset } = await world.send(changed(2, bid), snapshot(3));
  expect({ outcomes, resumeOffset }).toEqual({ outcomes: [done, done], resumeOffset: 1n });
  await world.pass(DAY_MS / 1_000);
  expect(world.told.some(({ market }) => market === MARKET)).toBe(false);
});

describe('whoever takes over', () => {
  const other = 'other-2026-11-25';

  it('begins with the oldest snapshot that a book of the partition needs', async () => {
    const world = createKeeperWorld();
    expect((await world.send(changed(5, bid))).resumeOffset).toBeNull();
    expect((await world.send(snapshot(5), changed(6, bid))).resumeOffset).toBe(1n);
    expect((await world.send(of(other, snapshot(5)))).resumeOffset).toBe(1n);
    expect((await world.send(snapshot(7))).resumeOffset).toBe(3n);
    // What is ignored or has stopped is no place to begin.
    expect((await world.send(of(other, snapshot(4)))).resumeOffset).toBe(3n);
    expect((await world.send(of(other, changed(9, bid)))).resumeOffset).toBe(4n);
    expect((await world.send(changed(9, bid))).resumeOffset).toBeNull();
    expect((await world.sendBatch({ partition: 1 }, of('x-2026-11-25', snapshot(1)))).resumeOffset).toBe(8n);
  });

  it('tells and asks nothing while it reads again what came before, however long that takes', async () => {
    const world = createKeeperWorld();
    const behind = { atEnd: false };
    await world.sendBatch(behind, snapshot(1), of(other, changed(50, bid)));
    await world.pass(30 * SECOND_MS);
    await world.sendBatch(behind, changed(2, bid), changed(4, bid));
    await world.pass(30 * SECOND_MS);
    expect({ told: world.told, asked: world.asked }).toEqual({ told: [], asked: [] });
    await world.send(of(other, snapshot(51)), snapshot(9));
    await world.pass(BOOK_PUBLISH_MS);
    expect(world.told.map(({ market, book }) => [market, book?.seq])).toEqual([
      [MARKET, 9],
      [other, 51],
    ]);
    expect(world.asked).toEqual([]);
    // Once it was at the end, a batch that is not says nothing: there is always more under load.
    await world.sendBatch(behind, changed(10, bid));
    await world.pass(BOOK_PUBLISH_MS);
    expect(seqs(world).at(-1)).toBe(10);
  });

  it('leaves nothing of what was known in the process before it, nor says anything there', async () => {
    const world = createKeeperWorld();
    await world.send(snapshot(1));
    await world.sendBatch({ partition: 1 }, of(other, snapshot(1)));
    world.keeper.forget(0);
    await world.pass(BOOK_REPEAT_MS);
    expect(new Set(world.told.map(({ market }) => market))).toEqual(new Set([other]));
    await world.sendBatch({ atEnd: false }, changed(2, bid));
    expect(world.keeper.stoppedMarkets).toEqual([]);
    await world.send(changed(3, bid));
    expect(world.keeper.stoppedMarkets).toEqual([MARKET]);
  });
});
