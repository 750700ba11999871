import { DAY_MS, isoTime, startOfDayMs, systemClock, wait } from '#core/clock.ts';
import { createLog } from '#core/log.ts';
import type { LiveMarkets } from '#core/market/live-markets.ts';
import { createMemoryLiveMarkets } from '#core/market/memory-live-markets.ts';
import { createRedisLiveMarkets } from '#core/market/redis-live-markets.ts';
import { BookKeeper } from '../../workers/market/book-keeper.ts';
import { BOOK_REPEAT_MS } from '../../workers/market/book-replica.ts';
import { createDraw } from '../ledger/history/random.ts';
import { startRedis } from '../services/start-redis.ts';
import { connectTo } from '../support/connect-to.ts';
import { testDataDir } from '../support/data-dir.ts';
import { marketBars } from './bars.ts';
import { percentiles, shortNumber } from './report.ts';
import type { Bench } from './run-part.ts';

/** One for each day on which credit may end. */
const MARKETS = 8;
/** Of each side of a book. */
const LEVELS = 500;
const BATCH_MS = 10;
/** Far below what a reader may be behind. Looks are of this process's core, too, and so not more than are needed. */
const POLL_MS = 25;
/** Of what waits already, as while catching up. */
const BATCH_RECORDS = 1_000;

/**
 * Level changes into the keeper of books, each in a record of its own, and what its readers see of them meanwhile. The share
 * of a core that the wanted changes take, by store.
 */
export async function benchBook(bench: Bench): Promise<Record<'memory' | 'redis', number>> {
  const { report, sizes } = bench;
  report.heading(`Books of ${MARKETS} markets, ${LEVELS} levels a side, one change a record`);
  const folder = await testDataDir();
  bench.later(async () => folder[Symbol.asyncDispose]());
  const service = await startRedis({ dir: folder.path });
  bench.later(() => service.stop('SIGKILL'));
  const redis = await connectTo(service);
  bench.later(async () => redis.disconnect());
  using _core = bench.measureSelf();
  const { bookChangesPerSecond: perSecond, bookAgeMs } = marketBars;
  const benchStore = async (store: string, live: LiveMarkets): Promise<number> => {
    const { mostPerSecond, shareOfCore, ageMs } = await measure(live, perSecond, sizes.bookSeconds);
    const oldestMs = Math.max(...ageMs);
    report.line(
      `${store}: at most ${Math.round(mostPerSecond)} changes/s; at ${perSecond}/s ${shortNumber(shareOfCore * 100)} % of a core, and a reader is behind by ${percentiles(ageMs)} ms`,
    );
    report.verdict({
      bar: `the book that is served meanwhile (${store}) < ${bookAgeMs} ms behind`,
      measured: `${shortNumber(oldestMs)} ms at most`,
      met: oldestMs < bookAgeMs,
    });
    return shareOfCore;
  };
  return {
    memory: await benchStore('memory', createMemoryLiveMarkets(systemClock)),
    redis: await benchStore('Redis', createRedisLiveMarkets(redis)),
  };
}

interface BookFigures {
  /** Handed in without a pause. */
  mostPerSecond: number;
  /** Of this process, at the pace that is wanted. */
  shareOfCore: number;
  /** Of each look at the served book: for how long there has been a newer one. */
  ageMs: number[];
}

async function measure(live: LiveMarkets, perSecond: number, seconds: number): Promise<BookFigures> {
  const keeper = new BookKeeper({
    live,
    requestSnapshot: async (market) => {
      throw new Error(`${market} has stopped`);
    },
    clock: systemClock,
    log: { ...createLog(), info: () => {} },
  });
  const feed = new BenchFeed();
  const takenMs = new Map<number, number>();
  const hand = async (records: readonly BenchRecord[]): Promise<void> => {
    const nowMs = systemClock.monotonicMs();
    for (const { seqOfFirst } of records) if (seqOfFirst !== null) takenMs.set(seqOfFirst, nowMs);
    await keeper.handle({ partition: 0, records });
  };
  await hand(feed.snapshots());

  const backlog = feed.changes(perSecond * seconds);
  const startedMs = systemClock.monotonicMs();
  for (let at = 0; at < backlog.length; at += BATCH_RECORDS)
    await hand(backlog.slice(at, at + BATCH_RECORDS));
  const mostPerSecond = (backlog.length * 1_000) / (systemClock.monotonicMs() - startedMs);
  await wait(systemClock, BOOK_REPEAT_MS);

  const paced = feed.changes(perSecond * seconds);
  const looks = startLooking(live, feed.firstMarket, takenMs);
  const cpu = process.cpuUsage();
  const beganMs = systemClock.monotonicMs();
  for (let sent = 0; sent < paced.length; ) {
    const due = Math.floor(((systemClock.monotonicMs() - beganMs) * perSecond) / 1_000);
    await hand(paced.slice(sent, due));
    sent = Math.max(sent, Math.min(due, paced.length));
    await wait(systemClock, BATCH_MS);
  }
  const { user, system } = process.cpuUsage(cpu);
  const shareOfCore = (user + system) / 1_000 / (systemClock.monotonicMs() - beganMs);
  const ageMs = await looks.end();
  await keeper.stop();
  if (keeper.stoppedMarkets.length > 0) throw new Error('a book has stopped');
  return { mostPerSecond, shareOfCore, ageMs };
}

function startLooking(live: LiveMarkets, market: string, takenMs: ReadonlyMap<number, number>) {
  const ageMs: number[] = [];
  let isOver = false;
  const looking = (async () => {
    while (!isOver) {
      const book = await live.readBook(market);
      if (book === null || book === 'unavailable') throw new Error('there is no book');
      const nowMs = systemClock.monotonicMs();
      ageMs.push(nowMs - (takenMs.get(book.seq + 1) ?? nowMs));
      await wait(systemClock, POLL_MS);
    }
  })();
  return {
    async end(): Promise<number[]> {
      isOver = true;
      await looking;
      return ageMs;
    },
  };
}

interface BenchRecord {
  offset: bigint;
  bytes: Buffer;
  /** Where it is of the first market. */
  seqOfFirst: number | null;
}

/** As the exchange writes them, the markets in turn. Most of what changes is near the best price. */
class BenchFeed {
  readonly #markets = Array.from(
    { length: MARKETS },
    (_, i) => `credit-${isoTime(startOfDayMs(systemClock.now()) + (i + 2) * DAY_MS).slice(0, 10)}`,
  );
  readonly #draw = createDraw(1);
  #written = 0;

  get firstMarket(): string {
    return this.#markets[0] ?? '';
  }

  snapshots(): BenchRecord[] {
    const side = (isBid: boolean) =>
      Array.from({ length: LEVELS }, (_, i) => ({ price: priceAt(isBid, i), size: '100.25', orders: 2 }));
    return this.#markets.map(() =>
      this.#write({ type: 'book_snapshot', bids: side(true), asks: side(false) }),
    );
  }

  changes(count: number): BenchRecord[] {
    return Array.from({ length: count }, () => {
      const isBid = this.#draw(2) === 0;
      const level = this.#draw(1 + this.#draw(LEVELS));
      const isGone = this.#draw(5) === 0;
      const size = isGone ? '0' : `${1 + this.#draw(10_000)}.25`;
      const change = { side: isBid ? 'bid' : 'ask', price: priceAt(isBid, level), size };
      return this.#write({ type: 'book_changed', changes: [{ ...change, orders: isGone ? 0 : 3 }] });
    });
  }

  #write(content: object): BenchRecord {
    const place = this.#written++;
    const seq = 1 + Math.floor(place / MARKETS);
    const market = this.#markets[place % MARKETS];
    const record = { v: 1, market, seq, at: isoTime(systemClock.now()), ...content };
    return {
      offset: BigInt(place),
      bytes: Buffer.from(JSON.stringify(record)),
      seqOfFirst: market === this.firstMarket ? seq : null,
    };
  }
}

const priceAt = (isBid: boolean, level: number): string =>
  ((10_000 + (isBid ? -1 : 1) * (level + 1)) / 10_000).toFixed(4);
