import { join } from 'node:path';
import { DAY_MS, isoTime, MINUTE_MS, SECOND_MS, startOfDayMs, systemClock } from '#core/clock.ts';
import { connectCassandra } from '#core/drivers/cassandra.ts';
import { migrateCassandra } from '#core/drivers/cassandra-migrations.ts';
import { inPieces } from '#core/in-pieces.ts';
import { CANDLES_MAX } from '#core/limits.ts';
import { createLog } from '#core/log.ts';
import type { CandleRow } from '#core/market/candle.ts';
import { createCassandraMarketStore } from '#core/market/cassandra-market-store.ts';
import type { MarketStore } from '#core/market/market-store.ts';
import { createMemoryLiveMarkets } from '#core/market/memory-live-markets.ts';
import { MARKETS_FILE, openSqliteMarketStore } from '#core/market/sqlite-market-store.ts';
import { emptyCursor } from '#core/market/trade-cursor.ts';
import { CandleKeeper } from '../../workers/market/candle-keeper.ts';
import { createDraw } from '../ledger/history/random.ts';
import { startCassandra } from '../services/start-cassandra.ts';
import { cassandraAt } from '../support/cassandra-at.ts';
import { testDataDir } from '../support/data-dir.ts';
import { marketBars, type Sizes } from './bars.ts';
import { percentiles } from './report.ts';
import type { Bench } from './run-part.ts';
import { quantile } from './statistics.ts';

/**
 * One for each day on which credit may end, but for the next: a run may go on into it. A feed is keyed by its market and all
 * partitions are read side by side, so each is as if it had one of its own.
 */
const MARKETS = 7;
/** Of one market, in one read of the feed. */
const BATCH_RECORDS = 500;
const MINUTES = (8 * DAY_MS) / MINUTE_MS;
const US_PER_SECOND = 1_000_000;

/**
 * Trades into the keeper of candles, handed in without a pause; and a thousand candles as nobody has read them before. Stores
 * are given as much work before as they are measured by: Cassandra compiles its code meanwhile. The share of a core that the
 * wanted trades take, by store.
 */
export async function benchCandles(bench: Bench): Promise<Record<'sqlite' | 'cassandra', number>> {
  const { report, sizes } = bench;
  report.heading(`Candles of ${MARKETS} markets side by side, ${BATCH_RECORDS} trades a batch`);
  const folder = await testDataDir();
  bench.later(async () => folder[Symbol.asyncDispose]());
  const file = openSqliteMarketStore(join(folder.path, MARKETS_FILE));
  bench.later(() => file.close());
  const node = await startCassandra({ dir: join(folder.path, 'cassandra'), asOperated: true });
  bench.later(() => node.stop('SIGKILL'));
  await migrateCassandra({ ...cassandraAt(node), replicas: { datacenter1: 1 }, clock: systemClock });
  const client = connectCassandra(cassandraAt(node));
  bench.later(() => client.shutdown());
  using _core = bench.measureSelf();
  const cassandra = createCassandraMarketStore(client);
  const wanted = marketBars.tradesPerSecond;
  const benchStore = async (name: string, store: MarketStore): Promise<number> => {
    const { perSecond, cpuUs } = await measureTrades(store, sizes.candles.trades);
    report.line(`${name}: ${Math.round(cpuUs)} µs of CPU a trade`);
    report.verdict({
      bar: `trades into candles (${name}) >= ${wanted}/s`,
      measured: `${Math.round(perSecond)}/s`,
      met: perSecond >= wanted,
    });
    return (wanted * cpuUs) / US_PER_SECOND;
  };
  const shares = {
    sqlite: await benchStore('SQLite', file),
    cassandra: await benchStore('Cassandra', cassandra),
  };
  const readMs = await measureReads(cassandra, sizes);
  const p99 = quantile(readMs, 0.99);
  report.line(`${CANDLES_MAX} candles from Cassandra: ${percentiles(readMs)} ms`);
  report.verdict({
    bar: `${CANDLES_MAX} candles cold from Cassandra, p99 <= ${marketBars.coldCandlesMs} ms`,
    measured: `${p99.toFixed(1)} ms`,
    met: p99 <= marketBars.coldCandlesMs,
  });
  return shares;
}

async function measureTrades(
  store: MarketStore,
  count: number,
): Promise<{ perSecond: number; cpuUs: number }> {
  const live = createMemoryLiveMarkets(systemClock);
  const keeper = new CandleKeeper({ store, live, clock: systemClock, log: createLog() });
  const draw = createDraw(1);
  const nowMs = systemClock.now();
  const half = Math.ceil(count / MARKETS);
  const partitions = Array.from({ length: MARKETS }, (_, partition) =>
    Array.from({ length: 2 * half }, (_, place) => ({
      offset: BigInt(place),
      bytes: Buffer.from(
        JSON.stringify({
          ...{ v: 1, type: 'traded', market: marketOf(partition), seq: 1 + place },
          ...{ tradeId: `trade-${partition}-${place}`, at: isoTime(nowMs + place * MARKETS) },
          ...{
            price: `0.${9_000 + draw(900)}`,
            size: `${1 + draw(100)}.25`,
            sellerAgentId: 1,
            buyerAgentId: 2,
          },
        }),
      ),
    })),
  );
  const handAll = (fed: typeof partitions) =>
    Promise.all(
      fed.map(async (all, partition) => {
        for (const records of inPieces(all, BATCH_RECORDS)) {
          const { outcomes } = await keeper.handle({ partition, records });
          if (outcomes.some(({ outcome }) => outcome !== 'done')) throw new Error('a trade was not taken');
        }
      }),
    );
  await handAll(partitions.map((all) => all.slice(0, half)));
  const cpu = process.cpuUsage();
  const startedMs = systemClock.monotonicMs();
  await handAll(partitions.map((all) => all.slice(half)));
  const seconds = (systemClock.monotonicMs() - startedMs) / SECOND_MS;
  const { user, system } = process.cpuUsage(cpu);
  await keeper.stop();
  return { perSecond: count / seconds, cpuUs: (user + system) / count };
}

/**
 * Each from somewhere in a market's minutes, all of which had trades. The warm-up is counted in reads: on one core Cassandra
 * compiles this path for the first 3,000 of them, over which the median halves.
 */
async function measureReads(
  store: MarketStore,
  { candles: { warmUpReads, reads } }: Pick<Sizes, 'candles'>,
): Promise<number[]> {
  const opensMs = startOfDayMs(systemClock.now()) - 2 * DAY_MS;
  for (let i = 0; i < MARKETS; i++) {
    const candles = Array.from({ length: MINUTES }, (_, n) => candleAt(opensMs + n * MINUTE_MS, 1 + n));
    const cursor = { ...emptyCursor, generation: 2, throughSeq: MINUTES };
    await store.writeTrades({ market: marketOf(i), trades: [], candles, cursor });
  }
  const draw = createDraw(2);
  const timeReads = async (count: number): Promise<number[]> => {
    const readMs: number[] = [];
    for (let n = 0; n < count; n++) {
      const market = marketOf(draw(MARKETS));
      const fromMs = opensMs + draw(MINUTES - CANDLES_MAX) * MINUTE_MS;
      const startedMs = systemClock.monotonicMs();
      const found = await store.readCandles(market, '1m', fromMs, fromMs + CANDLES_MAX * MINUTE_MS);
      readMs.push(systemClock.monotonicMs() - startedMs);
      if (found.length !== CANDLES_MAX) throw new Error(`${found.length} candles`);
    }
    return readMs;
  };
  await timeReads(warmUpReads);
  return timeReads(reads);
}

const marketOf = (index: number): string =>
  `credit-${isoTime(startOfDayMs(systemClock.now()) + (index + 2) * DAY_MS).slice(0, 10)}`;

const candleAt = (timeMs: number, seq: number): CandleRow => ({
  ...{ interval: '1m', timeMs, openNano: 900_000_000n, highNano: 998_000_000n, lowNano: 850_000_000n },
  ...{ closeNano: 950_000_000n, volumeNano: 123_456_789_012n, quoteVolumeAtto: 123_456_789_012_345_678_901n },
  ...{ trades: 40, firstSeq: seq, lastSeq: seq + 40, throughSeq: seq + 40, aheadSeqs: [], generation: 2 },
});
