import { expect, test } from 'vitest';
import { createCassandraMarketStore } from '#core/market/cassandra-market-store.ts';
import { useCassandra } from '../support/cassandra-node.ts';
import { describeWith } from '../support/with-services.ts';
import { testMarketStore } from './market-store-contract.ts';

describeWith(['cassandra'], 'markets in Cassandra', () => {
  const node = useCassandra();
  testMarketStore(async () => ({
    store: createCassandraMarketStore(node.client),
    again: () => createCassandraMarketStore(node.client),
  }));

  test('what is written is gone some time behind the end of its market', async () => {
    const { rows } = await node.client.execute('SELECT ttl(cursor) AS left FROM market_cursors LIMIT 1');
    expect(Number(rows[0]?.get('left'))).toBeGreaterThan(97 * 86_400);
  });
});
