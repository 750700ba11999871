import { DAY_MS, HOUR_MS } from '#core/clock.ts';
import type { MarketTrade } from '#core/events/market-trade.ts';
import type { MarketStore } from '#core/market/market-store.ts';
import { checkMarket, rebuildMarket } from '#core/market/rebuild-market.ts';
import type { CandleKeeper } from '../../workers/market/candle-keeper.ts';
import { createDraw, type Draw } from '../ledger/history/random.ts';
import { candleWorld } from './candle-world.ts';
import { allCandlesOf, MARKET, OPENS_MS, recordOf, seededTrades } from './market-trades.ts';

/** Of a log of trades, one that reads it. */
interface Reader {
  keeper: CandleKeeper;
  at: number;
}

export interface History {
  trades: readonly MarketTrade[];
  candles: Awaited<ReturnType<typeof allCandlesOf>>;
  differing: number | undefined;
  throughSeq: number | undefined;
  kills: number;
  rebuilds: number;
  keptApart: number;
}

/**
 * Trades out of order and repeated, read in cuts by keepers that are killed between any two things that they store, are
 * replaced and do not know it, and whose kept offset may be an old one; and rebuilds in between, some of them cut off.
 */
export async function runHistory(seed: number): Promise<History> {
  const draw = createDraw(seed);
  const count = 20 + draw(200);
  const trades = seededTrades(count, draw, { spanMs: [HOUR_MS, DAY_MS, 8 * DAY_MS][draw(3)] ?? DAY_MS });
  const records = shuffled(trades, draw).map(recordOf);
  const world = candleWorld({ nowMs: OPENS_MS + (draw(2) === 0 ? 8 : 9) * DAY_MS - draw(60_000) });
  // Any two who wait for the store may come to their turn in any order, and one of them long before the other.
  const turn = async () => {
    for (let n = draw(draw(8) === 0 ? 400 : 4); n > 0; n--) await null;
  };
  const found = { kills: 0, rebuilds: 0, keptApart: 0 };

  /** The store as one process has it, which may die before any single thing that it stores. */
  const storeOf = (dies: { afterSteps: number }): MarketStore =>
    world.store.ofProcess({
      beforeRead: turn,
      async beforeStep() {
        await turn();
        if (dies.afterSteps-- <= 0) throw new Error('killed');
      },
    });

  let committed = 0;
  let dies = { afterSteps: draw(200) };
  let reader: Reader = { keeper: world.startKeeper(storeOf(dies)), at: 0 };
  const zombies: Reader[] = [];
  const read = async (by: Reader): Promise<boolean> => {
    const some = records.slice(by.at, by.at + 1 + draw(30));
    const batch = {
      partition: 0,
      records: some.map((bytes, i) => ({ offset: BigInt(by.at + i), bytes })),
    };
    const { outcomes, resumeOffset } = await by.keeper.handle(batch);
    if (resumeOffset !== null) by.at = Number(resumeOffset);
    found.keptApart += outcomes.filter(({ outcome }) => outcome === 'dead_letter').length;
    return outcomes.every(({ outcome }) => outcome === 'done');
  };
  const replace = (isDead: boolean) => {
    if (isDead) void reader.keeper.stop();
    else zombies.push(reader);
    dies = { afterSteps: draw(2) === 0 ? draw(100) : Number.MAX_SAFE_INTEGER };
    reader = { keeper: world.startKeeper(storeOf(dies)), at: committed };
  };

  while (reader.at < records.length) {
    world.clock.advance(draw(700));
    const zombie = zombies[draw(8)];
    const rebuild = draw(25) === 0 ? rebuildMarket(storeOf({ afterSteps: draw(80) }), MARKET) : null;
    if (rebuild !== null) found.rebuilds++;
    const [isDone] = await Promise.all([
      read(reader),
      zombie === undefined || zombie.at >= records.length ? null : read(zombie),
      rebuild?.catch(() => null),
    ]);
    if (dies.afterSteps < 0) {
      found.kills++;
      replace(true);
      continue;
    }
    if (isDone && draw(2) === 0) committed = reader.at;
    // As after a broker that lost the newest offsets.
    if (draw(30) === 0) committed = draw(committed + 1);
    if (draw(15) === 0) replace(false);
    if (draw(15) === 0) reader.keeper.forget(0);
  }
  // Who is left notices a rebuild that was begun or ended meanwhile.
  dies.afterSteps = Number.MAX_SAFE_INTEGER;
  world.clock.advance(1_000);
  await reader.keeper.stop();
  const last = { keeper: world.startKeeper(), at: Math.max(0, committed - 1) };
  while (last.at < records.length) await read(last);
  for (const each of [last, ...zombies]) await each.keeper.stop();
  const checked = await checkMarket(world.store, MARKET);
  return {
    ...found,
    trades,
    candles: await allCandlesOf(world.store),
    differing: checked?.differing,
    throughSeq: (await world.store.readCursor(MARKET))?.throughSeq,
  };
}

/** Some a good deal out of order, and some twice or more often. */
function shuffled(trades: readonly MarketTrade[], draw: Draw): MarketTrade[] {
  const apart = [1, 3, 20, trades.length][draw(4)] ?? 1;
  return trades
    .flatMap((trade) => (draw(6) === 0 ? [trade, trade, trade].slice(draw(2)) : [trade]))
    .map((trade) => ({ trade, place: trade.seq + draw(apart) }))
    .sort((a, b) => a.place - b.place)
    .map(({ trade }) => trade);
}
