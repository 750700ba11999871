import { expect, test } from 'vitest';
import type { FeedBatch } from '#core/events/feed-record.ts';
import { BOOK_PUBLISH_MS } from '#core/limits.ts';
import { createDraw } from '../ledger/history/random.ts';
import { bytesOf } from './book-records.ts';
import { DrawnExchange } from './drawn-exchange.ts';
import { createKeeperWorld, type KeeperWorld } from './keeper-world.ts';

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
