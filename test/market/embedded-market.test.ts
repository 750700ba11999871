import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { BOOK_TOPIC } from '#core/events/book-record.ts';
import { MARKETS_TOPIC } from '#core/events/market-listing.ts';
import { TRADES_TOPIC } from '#core/events/market-trade.ts';
import { FACTOR_ONE_PPM } from '#core/money.ts';
import { testDataDir } from '../support/data-dir.ts';
import { startTestGateway, type TestGateway, until } from '../support/gateway.ts';
import { startTestProvider } from '../support/provider.ts';
import { bookChange, listing, marketOf, snapshot, trade } from './market-records.ts';

const YAML = `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers:
  - { id: sim, kind: simulator, baseUrl: PROVIDER_URL }
`;

async function feed({ running }: TestGateway, topic: string, ...records: object[]) {
  const response = await fetch(`${running.internalUrl}/admin/feeds/${topic}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${running.adminToken.reveal()}` },
    body: JSON.stringify({ records }),
  });
  return { status: response.status, answer: JSON.parse(await response.text()) };
}

const read = async ({ baseUrl }: TestGateway, path: string) => {
  const response = await fetch(`${baseUrl}/dex/markets${path}`);
  return { status: response.status, answer: JSON.parse(await response.text()) };
};

const outcomesOf = ({ answer }: Awaited<ReturnType<typeof feed>>): string[] =>
  answer.outcomes.map(({ outcome }: { outcome: string }) => outcome);

test('a gateway by itself keeps what it was fed over a restart, and what is fed again changes nothing', async () => {
  await using folder = await testDataDir();
  await using provider = Object.assign(await startTestProvider(), {
    async [Symbol.asyncDispose]() {
      await provider.close();
    },
  });
  const options = { provider, dataDir: folder.path, yaml: YAML };
  const id = marketOf(systemClock.now(), 8);
  const gateway = await startTestGateway(options);
  const [seller, buyer] = [gateway.agent, await gateway.newAgent({ creditUsd: '1' })];
  const between = { sellerAgentId: seller.agentId, buyerAgentId: buyer.agentId };
  const trades = [trade(id, 1, between), trade(id, 2, { ...between, size: '0.5' })];
  expect(outcomesOf(await feed(gateway, MARKETS_TOPIC, listing(id)))).toEqual(['done']);
  expect(outcomesOf(await feed(gateway, TRADES_TOPIC, ...trades))).toEqual(['done', 'done']);
  await feed(gateway, BOOK_TOPIC, snapshot(id, 3), bookChange(id, 4));
  await until(async () => (await read(gateway, `/${id}/book`)).answer.seq === 4);
  expect(await gateway.balance(buyer)).toMatchObject({ spendable_usd: '2.5' });
  await gateway.stop();

  const again = await startTestGateway(options);
  expect(outcomesOf(await feed(again, TRADES_TOPIC, ...trades))).toEqual(['done', 'done']);
  expect(await again.balance(seller)).toMatchObject({ spendable_usd: '3.5' });
  expect(await again.balance(buyer)).toMatchObject({ spendable_usd: '2.5' });
  const candles = (await read(again, `/${id}/candles?interval=1d`)).answer.candles;
  expect(candles).toMatchObject([{ volume: '1.5', trades: 2 }]);
  // Of the book it knows nothing, and says so until its next snapshot.
  expect((await feed(again, BOOK_TOPIC, bookChange(id, 5))).answer.wanted_snapshots).toEqual([id]);
  await feed(again, BOOK_TOPIC, snapshot(id, 5));
  await until(async () => (await read(again, `/${id}/book`)).answer.seq === 5);
  // One of its records cannot be read: it may have been a change.
  const unread = { ...bookChange(id, 6), changes: [{ side: 'bid', price: '0.9', size: '-1', orders: 1 }] };
  const { answer } = await feed(again, BOOK_TOPIC, unread);
  expect(answer).toMatchObject({ outcomes: [{ outcome: 'dead_letter' }], wanted_snapshots: [id] });
  await until(async () => (await read(again, `/${id}/book`)).status === 503);
  await again.stop();
});

test('what calls cost is stored at the end, also while records of markets are not stored yet', async () => {
  const gateway = await startTestGateway({ yaml: YAML });
  const { workers, store, gateway: parts } = gateway.running.deps;
  const market = Promise.withResolvers<void>();
  const order: string[] = [];
  store.bills.add = async () => void order.push('costs');
  workers.stopMarket = () => {
    order.push('market');
    return market.promise;
  };
  parts.costs.note('sim', 5n, FACTOR_ONE_PPM);
  const stopped = gateway.stop();
  await until(() => order.includes('market'));
  expect(order).toEqual(['costs', 'market']);
  market.resolve();
  await stopped;
});

test('with `market: off` nothing is fed, and no market is there to read', async () => {
  await using gateway = await startTestGateway({ yaml: `${YAML}market: off\n` });
  const { status, answer } = await feed(gateway, MARKETS_TOPIC, listing(marketOf(systemClock.now(), 3)));
  expect([status, answer.error.code]).toEqual([404, 'not_found']);
  expect(gateway.running.deps.workers.feeds).toBe('off');
  expect((await read(gateway, '')).status).toBe(404);
  expect(gateway.running.deps.registry.getSingleMetric('faregate_books_stopped')).toBeUndefined();
});
