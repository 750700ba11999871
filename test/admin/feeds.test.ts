import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { executeDurably } from '#core/accounts/execute-durably.ts';
import { DAY_MS, startOfDayMs } from '#core/clock.ts';
import { BOOK_TOPIC } from '#core/events/book-record.ts';
import { MARKETS_TOPIC } from '#core/events/market-listing.ts';
import { TRADES_TOPIC } from '#core/events/market-trade.ts';
import { FEED_RECORDS_AT_ONCE } from '#core/limits.ts';
import type { DirectFeeds } from '#core/market/direct-feeds.ts';
import { FEED_BODY_BYTES_MAX } from '../../api/admin/routes/feeds.ts';
import { startEmbeddedMarket } from '../../workers/market/embedded-market.ts';
import { readAgent } from '../ledger/case.ts';
import { bookChange, listing, marketOf, snapshot, trade } from '../market/market-records.ts';
import { until } from '../support/gateway.ts';
import { startTestAdmin } from './admin-harness.ts';

/** A gateway by itself, with all that it does with records of markets. */
async function startWithMarkets() {
  const registry = new Registry();
  const log = { info() {}, warn() {}, error() {} };
  const market: { feeds?: DirectFeeds; stop?: () => Promise<void> } = {};
  const admin = await startTestAdmin({
    feeds({ clock, ledger, markets }) {
      Object.assign(market, startEmbeddedMarket({ ...markets, ledger, registry, clock, log }));
      return market.feeds ?? 'off';
    },
  });
  const { clock, ledger } = admin;
  const id = marketOf(clock.now(), 3);
  const expiresAtMs = startOfDayMs(clock.now()) + 3 * DAY_MS;
  for (const agentId of [1, 2]) {
    const grant = { agentId, grantId: `g${agentId}`, expiresAtMs, nanoUsd: 2_500_000_000n };
    await executeDurably(ledger, { type: 'grant', ...grant });
  }
  return {
    admin,
    id,
    registry,
    feed: async (topic: string, ...records: unknown[]) =>
      (await admin.post(`/feeds/${topic}`, { records })).body,
    credit: async (agentId: number) =>
      (await readAgent(ledger, agentId)).lots.reduce((sum, lot) => sum + lot.freeNanoUsd, 0n),
    async [Symbol.asyncDispose]() {
      await market.stop?.();
      await admin.stop();
    },
  };
}

test('a market is listed, trades and shows its book by what is fed to the gateway itself', async () => {
  await using gateway = await startWithMarkets();
  const { admin, id, feed, credit } = gateway;
  expect(await feed(MARKETS_TOPIC, listing(id))).toEqual({
    outcomes: [{ outcome: 'done' }],
    // Nobody can be shown a book before.
    wanted_snapshots: [id],
  });
  expect(await admin.markets.store.readListings()).toMatchObject([{ market: id }]);
  expect(await feed(BOOK_TOPIC, snapshot(id, 7), bookChange(id, 8))).toMatchObject({ wanted_snapshots: [] });
  admin.clock.advance(300);
  await until(async () => {
    const book = await admin.markets.live.readBook(id);
    return book !== null && book !== 'unavailable' && book.seq === 8;
  });
  expect(await feed(TRADES_TOPIC, trade(id, 1), trade(id, 2))).toMatchObject({
    outcomes: [{ outcome: 'done' }, { outcome: 'done' }],
  });
  expect([await credit(1), await credit(2)]).toEqual([500_000_000n, 4_500_000_000n]);
  expect(await admin.markets.store.readCandles(id, '1d', 0, Number.MAX_SAFE_INTEGER)).toMatchObject([
    { trades: 2, volumeNano: 2_000_000_000n },
  ]);
});

test('records that are sent again change nothing', async () => {
  await using gateway = await startWithMarkets();
  const { admin, id, feed, credit } = gateway;
  const trades = [trade(id, 1), trade(id, 2)];
  for (let i = 0; i < 3; i++) await feed(TRADES_TOPIC, ...trades);
  expect([await credit(1), await credit(2)]).toEqual([500_000_000n, 4_500_000_000n]);
  expect(await admin.markets.store.readCandles(id, '1d', 0, Number.MAX_SAFE_INTEGER)).toMatchObject([
    { trades: 2 },
  ]);
});

test('a feeder is told of each record why it was not taken, and which books wait for a snapshot', async () => {
  await using gateway = await startWithMarkets();
  const { id, feed, credit, registry } = gateway;
  const lacks = trade(id, 2, { size: '3' });
  const answer = await feed(TRADES_TOPIC, trade(id, 1), lacks, trade(id, 3, { price: '9'.repeat(40) }), 'x');
  expect(answer.outcomes).toEqual([
    { outcome: 'done' },
    { outcome: 'rejected', reason: expect.stringMatching(/credit/) },
    { outcome: 'dead_letter', reason: expect.stringMatching(/^price: /) },
    { outcome: 'dead_letter', reason: expect.stringMatching(/^the record: /) },
  ]);
  expect([await credit(1), await credit(2)]).toEqual([1_500_000_000n, 3_500_000_000n]);
  expect((await feed(BOOK_TOPIC, snapshot(id, 7))).wanted_snapshots).toEqual([]);
  expect((await feed(BOOK_TOPIC, bookChange(id, 9))).wanted_snapshots).toEqual([id]);
  expect((await feed(BOOK_TOPIC, snapshot(id, 9))).wanted_snapshots).toEqual([]);
  const metrics = await registry.metrics();
  expect(metrics).toContain(`faregate_dead_letters_total{topic="${TRADES_TOPIC}"} 2`);
  expect(metrics).toContain(`faregate_feed_records_total{topic="${TRADES_TOPIC}"} 4`);
  expect(metrics).toMatch(/^faregate_credit_in_transit_usd 0$/m);
  expect(metrics).toMatch(/^faregate_trades_rejected_total 1$/m);
  expect(metrics).toMatch(/^faregate_books_stopped 0$/m);
});

test('nothing of a record that is refused is logged or written down', async () => {
  await using gateway = await startWithMarkets();
  const { admin, id, feed } = gateway;
  const answer = await feed(TRADES_TOPIC, trade(id, 1, { tradeId: '', canary: 'canary-5e1f' }));
  expect(JSON.stringify([answer, admin.logged, admin.audit.lines])).not.toContain('canary');
});

test('while the ledger or the store is away, records are to be sent again', async () => {
  await using gateway = await startWithMarkets();
  const { admin, id, feed } = gateway;
  await admin.ledger.close();
  expect((await feed(TRADES_TOPIC, trade(id, 1), trade(id, 2))).outcomes).toEqual([
    { outcome: 'try_again' },
    { outcome: 'try_again' },
  ]);
  admin.markets.store.beforeStep = () => {
    throw new Error('away');
  };
  expect((await feed(MARKETS_TOPIC, listing(id))).outcomes).toEqual([{ outcome: 'try_again' }]);
});

test('a snapshot of 2 MB may be fed, and more than a body holds may not', async () => {
  await using gateway = await startWithMarkets();
  const { admin, id } = gateway;
  const levels = (digit: string) =>
    Array.from({ length: 5_000 }, (_, i) => ({
      ...{ price: `${digit}.${String(100_000_000 + i)}`, size: '1234567.123456789', orders: 123_456_789 },
    }));
  const bids = levels('1').reverse();
  const book = snapshot(id, 1, { bids, asks: levels('2') });
  expect(JSON.stringify(book).length).toBeGreaterThan(64 * 1024);
  expect((await admin.post(`/feeds/${BOOK_TOPIC}`, { records: [book] })).body.outcomes).toEqual([
    { outcome: 'done' },
  ]);
  const flood = { records: ['x'.repeat(FEED_BODY_BYTES_MAX)] };
  expect((await admin.post(`/feeds/${BOOK_TOPIC}`, flood)).status).toBe(413);
  expect((await admin.post('/agents', { name: 'x'.repeat(70_000) })).status).toBe(413);
});

test('what is no list of records, or no feed, is refused with a sentence', async () => {
  await using gateway = await startWithMarkets();
  const { admin } = gateway;
  const many = Array.from({ length: FEED_RECORDS_AT_ONCE + 1 }, () => ({}));
  const refusal = async (topic: string, body: object) => {
    const { status, body: answer } = await admin.post(`/feeds/${topic}`, body);
    return [status, answer.error.code, answer.error.param ?? null];
  };
  expect(await refusal(BOOK_TOPIC, {})).toEqual([400, 'invalid_request', 'records']);
  expect(await refusal(BOOK_TOPIC, { records: [] })).toEqual([400, 'invalid_request', 'records']);
  expect(await refusal(BOOK_TOPIC, { records: many })).toEqual([400, 'invalid_request', 'records']);
  expect(await refusal(BOOK_TOPIC, { records: [{}], more: 1 })).toEqual([400, 'invalid_request', 'more']);
  for (const topic of ['ledger.v1', 'dex.trades.v2', 'constructor', '..%2Fagents']) {
    expect(await refusal(topic, { records: [{}] })).toEqual([404, 'not_found', null]);
  }
});

test('in a cluster the route says that records come over Kafka, and without markets that there are none', async () => {
  await using cluster = await startTestAdmin();
  const overKafka = await cluster.post(`/feeds/${TRADES_TOPIC}`, { records: [{}] });
  expect([overKafka.status, overKafka.body.error.message]).toEqual([400, expect.stringContaining('Kafka')]);
  await using off = await startTestAdmin({ feeds: () => 'off' });
  const none = await off.post(`/feeds/${TRADES_TOPIC}`, { records: [{}] });
  expect([none.status, none.body.error.message]).toEqual([404, expect.stringContaining('market: off')]);
});

test('only the operator’s token feeds', async () => {
  await using gateway = await startWithMarkets();
  const { admin, id } = gateway;
  const records = [listing(id)];
  const answer = await admin.post(`/feeds/${MARKETS_TOPIC}`, { records }, { authorization: 'Bearer wrong' });
  expect(answer.status).toBe(401);
  expect(await admin.markets.store.readListings()).toEqual([]);
});
