import { expect, test } from 'vitest';
import { createCassandraMarketStore } from '#core/market/cassandra-market-store.ts';
import { checkMarket, rebuildMarket } from '#core/market/rebuild-market.ts';
import { createDraw } from '../ledger/history/random.ts';
import { useCassandra } from '../support/cassandra-node.ts';
import { describeWith } from '../support/with-services.ts';
import { batchOf, candleWorld } from './candle-world.ts';
import { testMarketStore } from './market-store-contract.ts';
import { allCandlesOf, allFolded, ENDS_MS, seededTrades } from './market-trades.ts';

describeWith(['cassandra'], 'markets in Cassandra', () => {
  const node = useCassandra();
  testMarketStore(async () => ({
    store: createCassandraMarketStore(node.client),
    again: () => createCassandraMarketStore(node.client),
  }));

  test('read by one process after the other, and rebuilt meanwhile, the candles are those of the trades', async () => {
    const market = 'whole-2026-11-25';
    const draw = createDraw(5);
    const trades = seededTrades(6_000, draw, { market });
    const { startKeeper } = candleWorld({ nowMs: ENDS_MS });
    const open = () => createCassandraMarketStore(node.client);
    let keeper = startKeeper(open());
    const zombie = startKeeper(open());
    for (let at = 0; at < trades.length; ) {
      const batch = batchOf(trades.slice(at, at + 300), BigInt(at));
      const [{ resumeOffset }] = await Promise.all([
        keeper.handle(batch),
        draw(3) === 0 ? zombie.handle(batchOf(trades.slice(0, 200))) : null,
        draw(6) === 0 ? rebuildMarket(open(), market) : null,
      ]);
      if (resumeOffset !== null) at = Number(resumeOffset);
      if (draw(4) > 0) continue;
      await keeper.stop();
      keeper = startKeeper(open());
      at = Math.max(0, at - draw(500));
    }
    await keeper.stop();
    await zombie.stop();
    expect(await allCandlesOf(open(), market)).toEqual(allFolded(trades));
    expect(await checkMarket(open(), market)).toMatchObject({ trades: 6_000, differing: 0 });
  });

  test('what is written is gone some time behind the end of its market', async () => {
    const { rows } = await node.client.execute('SELECT ttl(cursor) AS left FROM market_cursors LIMIT 1');
    expect(Number(rows[0]?.get('left'))).toBeGreaterThan(97 * 86_400);
  });
});
