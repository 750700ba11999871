import { expect, test } from 'vitest';
import type { FeedBatch } from '#core/events/feed-record.ts';
import { BOOK_PUBLISH_MS } from '#core/limits.ts';
import { createMemoryLiveMarkets } from '#core/market/memory-live-markets.ts';
import { BookKeeper } from '../../workers/market/book-keeper.ts';
import { BOOK_REPEAT_MS } from '../../workers/market/book-replica.ts';
import { createDraw } from '../ledger/history/random.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { bytesOf, changed, MARKET, snapshot } from './book-records.ts';
import { DrawnExchange } from './drawn-exchange.ts';
import { createKeeperWorld, flush, type KeeperWorld } from './keeper-world.ts';

const HISTORIES = 60;
const RECORDS = 200;
const MARKETS = ['a-2026-11-25', 'b-2026-11-25', 'c-2026-11-25'];
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

/** What readers have now, by market. */
async function shownBy(world: KeeperWorld): Promise<Map<string, string>> {
  await world.pass(2 * BOOK_PUBLISH_MS);
  return new Map(world.told.map(({ market, book }) => [market, JSON.stringify(book)]));
}

test(`a successor that reads on from where it is told has the books of the one before it (seed ${seed})`, async () => {
  let takeovers = 0;
  for (let history = seed; history < seed + HISTORIES; history++) {
    const draw = createDraw(history);
    const exchanges = MARKETS.map((market) => ({ market, exchange: new DrawnExchange(draw) }));
    const log: FeedBatch['records'][number][] = [];
    const write = (market: string, written: object) =>
      log.push({ offset: BigInt(log.length * 3), bytes: bytesOf({ ...written, market }) });
    for (let i = 0; i < RECORDS; i++) {
      const { market, exchange } = exchanges[draw(MARKETS.length)] ?? { market: '', exchange: null };
      const written = exchange?.next();
      // Now and then one is lost.
      if (written !== undefined && draw(50) > 0) write(market, written);
    }

    const first = createKeeperWorld();
    let committed = 0n;
    let at = 0;
    while (at < log.length) {
      const records = log.slice(at, at + 1 + draw(20));
      const { resumeOffset } = await first.keeper.handle({ partition: 0, records });
      committed = resumeOffset ?? committed;
      at += records.length;
    }
    const successor = createKeeperWorld();
    const again = log.filter(({ offset }) => offset >= committed);
    if (again.length < log.length) takeovers += 1;
    await successor.keeper.handle({ partition: 0, records: again });

    const [before, after] = [await shownBy(first), await shownBy(successor)];
    for (const { market, exchange } of exchanges) {
      const book = after.get(market) ?? 'null';
      expect(book, `history ${history}, ${market}`).toBe(before.get(market) ?? 'null');
      if (book !== 'null') expect(book).toBe(exchange.truth.get(JSON.parse(book).seq));
    }
    await Promise.all([first.keeper.stop(), successor.keeper.stop()]);
  }
  expect(takeovers).toBeGreaterThan(HISTORIES / 2);
});

test('while two take themselves for the writer, readers never go back to an older book', async () => {
  const clock = createFakeClock();
  const live = createMemoryLiveMarkets(clock);
  const log = { info() {}, warn() {}, error() {} };
  const open = () => new BookKeeper({ live, requestSnapshot: async () => {}, clock, log });
  const [old, successor] = [open(), open()];
  const hand = (keeper: BookKeeper, ...written: object[]) =>
    keeper.handle({
      partition: 0,
      records: written.map((one, i) => ({ offset: BigInt(i), bytes: bytesOf(one) })),
    });
  await hand(old, snapshot(1));
  await hand(successor, snapshot(1));
  let shownSeq = 0;
  for (let seq = 2; seq < 20; seq++) {
    await hand(successor, changed(seq, ['bid', '0.99', String(seq), 1]));
    // The old one is told of the first changes only, and repeats what it has every second.
    if (seq < 5) await hand(old, changed(seq, ['bid', '0.99', String(seq), 1]));
    clock.advance(BOOK_REPEAT_MS);
    await flush();
    const book = await live.readBook(MARKET);
    expect(book === null || book === 'unavailable' ? null : book.seq).toBeGreaterThanOrEqual(shownSeq);
    shownSeq = seq - 1;
  }
});
