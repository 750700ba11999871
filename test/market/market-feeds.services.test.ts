import { CompressionTypes, type Kafka, type Message } from 'kafkajs';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { executeDurably } from '#core/accounts/execute-durably.ts';
import { DAY_MS, startOfDayMs, systemClock } from '#core/clock.ts';
import { BOOK_REQUESTS_TOPIC, BOOK_TOPIC } from '#core/events/book-record.ts';
import { type Feed, startKafkaBatchFeed } from '#core/events/kafka-batch-feed.ts';
import { deadLetterTopic } from '#core/events/kafka-dead-letters.ts';
import { MARKETS_TOPIC } from '#core/events/market-listing.ts';
import { REJECTED_TRADES_TOPIC, TRADES_TOPIC } from '#core/events/market-trade.ts';
import { createMemoryLiveMarkets } from '#core/market/memory-live-markets.ts';
import { openKafkaExchange } from '../../workers/market/kafka-exchange.ts';
import { createMarketPipeline } from '../../workers/market/market-pipeline.ts';
import { type FeedBroker, follow, sendTo, startFeedBroker } from '../support/feed-broker.ts';
import { until } from '../support/gateway.ts';
import { createMemoryLedger } from '../support/memory-ledger.ts';
import { createMemoryMarketStore } from '../support/memory-market-store.ts';
import { describeWith } from '../support/with-services.ts';
import { bookChange, listing, marketOf, snapshot, trade } from './market-records.ts';

const LATE_MS = 180_000;
const EVER = [0, Number.MAX_SAFE_INTEGER] as const;

describeWith(['kafka'], 'markets on Kafka', () => {
  let broker: FeedBroker;
  let kafka: Kafka;
  let ending: (() => Promise<void>)[] = [];
  let names = 0;
  beforeAll(async () => {
    broker = await startFeedBroker();
    kafka = broker.kafka;
  });
  // Those of one test would reject the trades of the next one by one.
  afterEach(async () => {
    await Promise.all(ending.map((end) => end()));
    ending = [];
  });
  afterAll(async () => {
    await broker.stop();
  });

  /** Each test has markets, agents and consumer groups of its own: its workers read the other tests' records, too. */
  function newWorld() {
    const name = `m${++names}`;
    const [seller, buyer] = [100 * names + 1, 100 * names + 2];
    const clock = systemClock;
    const store = createMemoryMarketStore();
    const live = createMemoryLiveMarkets(clock);
    const ledger = createMemoryLedger({ clock });
    const log = { info() {}, warn() {}, error() {} };
    const deadLetters: string[] = [];
    const expiresAtMs = startOfDayMs(clock.now()) + 3 * DAY_MS;

    /** What one worker process does. */
    async function startWorker(group = name) {
      const exchange = await openKafkaExchange(kafka, clock);
      const { reject, requestSnapshot } = exchange;
      const pipeline = createMarketPipeline({ store, live, ledger, reject, requestSnapshot, clock, log });
      const feeds: Feed[] = await Promise.all(
        pipeline.readers.map(({ name: reader, topic, handler }) =>
          startKafkaBatchFeed({
            ...{ kafka, topic, handler, clock, log, groupId: `${group}-${reader}` },
            onRecords: () => undefined,
            onDeadLetter: () => void deadLetters.push(reader),
          }),
        ),
      );
      let stopped = false;
      async function stop(): Promise<void> {
        if (stopped) return;
        stopped = true;
        await Promise.all(feeds.map((feed) => feed.stop()));
        await pipeline.stop();
        await exchange.close();
      }
      ending.push(stop);
      return { stop, pipeline };
    }

    async function grant(nanoUsd: bigint): Promise<void> {
      const command = { agentId: seller, grantId: name, expiresAtMs, nanoUsd };
      await executeDurably(ledger, { type: 'grant', ...command });
    }

    return {
      ...{ seller, buyer, name, store, live, ledger, deadLetters, startWorker, grant },
      market: `${name}-${marketOf(clock.now(), 3)}`,
      marketOfNumber: (i: number) => `${name}-x${i}-${marketOf(clock.now(), 3)}`,
      trade: (market: string, seq: number, more: object = {}) =>
        trade(market, seq, { sellerAgentId: seller, buyerAgentId: buyer, ...more }),
      async seq(market: string) {
        const book = await live.readBook(market);
        return book === null || book === 'unavailable' ? null : book.seq;
      },
      async trades(market: string) {
        const candles = await store.readCandles(market, '1d', ...EVER);
        return candles.reduce((sum, candle) => sum + candle.trades, 0);
      },
      async credit(agentId: number) {
        const agent = await ledger.readAgent(agentId);
        if (agent === null || agent === 'unavailable') return 0n;
        return agent.lots.reduce((sum, lot) => sum + lot.freeNanoUsd, 0n);
      },
    };
  }

  const send = (topic: string, messages: Message[], compression?: CompressionTypes): Promise<void> =>
    sendTo(kafka, topic, messages, compression);

  const messagesOf = (records: readonly { market: string }[]): Message[] =>
    records.map((record) => ({ key: record.market, value: JSON.stringify(record) }));

  /** All that a topic holds, from its beginning, as it comes. */
  async function read(topic: string) {
    const kept: { key: string; value: string; headers: Record<string, string> }[] = [];
    const end = await follow(
      kafka,
      { groupId: `reader-${++names}`, topics: [topic] },
      ({ message: { key, value, headers = {} } }) =>
        void kept.push({
          key: String(key),
          value: String(value),
          headers: Object.fromEntries(
            Object.entries(headers).map(([header, text]) => [header, String(text)]),
          ),
        }),
    );
    ending.push(end);
    return kept;
  }

  test('what the exchange writes is listed, shown as a book and as candles, and moves credit', async () => {
    const { market, store, startWorker, grant, seq, trade, trades, credit, seller, buyer } = newWorld();
    await grant(10_000_000_000n);
    await startWorker();
    await send(MARKETS_TOPIC, messagesOf([listing(market)]));
    await send(BOOK_TOPIC, messagesOf([snapshot(market, 5), bookChange(market, 6)]));
    await send(TRADES_TOPIC, messagesOf([trade(market, 1), trade(market, 2)]));
    await until(async () => (await store.readListings()).some((each) => each.market === market), LATE_MS);
    await until(async () => (await seq(market)) === 6, LATE_MS);
    await until(
      async () => (await trades(market)) === 2 && (await credit(seller)) === 8_000_000_000n,
      LATE_MS,
    );
    await until(async () => (await credit(buyer)) === 2_000_000_000n, LATE_MS);
  });

  test('a gap stops the book and asks for a snapshot, and repeats change nothing', async () => {
    const { market, startWorker, seq } = newWorld();
    const requests = await read(BOOK_REQUESTS_TOPIC);
    await startWorker();
    await send(BOOK_TOPIC, messagesOf([snapshot(market, 1), bookChange(market, 2)]));
    await until(async () => (await seq(market)) === 2, LATE_MS);
    await send(BOOK_TOPIC, messagesOf([bookChange(market, 4)]));
    await until(async () => (await seq(market)) === null, LATE_MS);
    await until(() => requests.some(({ key }) => key === market), LATE_MS);
    const asked = JSON.parse(requests.find(({ key }) => key === market)?.value ?? '{}');
    expect(asked).toEqual({ v: 1, type: 'snapshot_wanted', market, at: expect.stringMatching(/Z$/) });
    await send(BOOK_TOPIC, messagesOf([bookChange(market, 5)]));
    const again = [snapshot(market, 6), bookChange(market, 7), bookChange(market, 7), bookChange(market, 6)];
    await send(BOOK_TOPIC, messagesOf([...again, bookChange(market, 8)]));
    await until(async () => (await seq(market)) === 8, LATE_MS);
  });

  test('what nobody can make sense of is kept apart with the reason and its place, and the feed goes on', async () => {
    const { name, market, startWorker, trade, trades, grant } = newWorld();
    await grant(10_000_000_000n);
    const kept = await read(deadLetterTopic(TRADES_TOPIC));
    await startWorker();
    await send(TRADES_TOPIC, [
      ...messagesOf([trade(market, 1), trade(market, 2, { v: 2 })]),
      { key: market, value: '{"canary-5e1f' },
      { key: market, value: null },
      { key: market, value: JSON.stringify(trade(market, 3, { market: `${name}-canary-5e1f` })) },
      ...messagesOf([
        trade(market, 4, { size: '-1' }),
        trade(market, 5, { price: '9'.repeat(40) }),
        trade(market, 2),
      ]),
    ]);
    await until(async () => (await trades(market)) === 2, LATE_MS);
    const ours = () => kept.filter(({ headers }) => headers.group === `${name}-moves`);
    await until(() => ours().length >= 6, LATE_MS);
    expect(ours().map(({ headers }) => headers.reason)).toEqual([
      'v: Invalid input: expected 1',
      'the record is no JSON',
      'the record is no JSON',
      'market: is no id of a market',
      'size: is no size above 0',
      'price: is no price above 0',
    ]);
    expect(ours()[1]).toMatchObject({
      key: market,
      value: '{"canary-5e1f',
      headers: { topic: TRADES_TOPIC, partition: expect.stringMatching(/^\d$/), offset: expect.any(String) },
    });
  });

  test('a record of 10 MB is kept apart with its beginning, and a whole book of 1 MB and more is taken', async () => {
    const { name, market, startWorker, seq } = newWorld();
    const kept = await read(deadLetterTopic(BOOK_TOPIC));
    await startWorker();
    const flood = { key: market, value: `{"v":1,"x":"${'x'.repeat(10 * 1024 * 1024)}"}` };
    await send(BOOK_TOPIC, [flood], CompressionTypes.GZIP);
    const side = (from: number) =>
      Array.from({ length: 5_000 }, (_, i) => ({
        price: `${from}.${String(100_000_000 + i)}`,
        ...{ size: '1234567.123456789', orders: 1_234_567_890 },
      }));
    const padded = { ...snapshot(market, 7, { bids: side(1).reverse(), asks: side(2) }) };
    const value = JSON.stringify(padded, null, 16);
    expect(value.length).toBeGreaterThan(1_100_000);
    await send(BOOK_TOPIC, [{ key: market, value }]);
    await until(async () => (await seq(market)) === 7, LATE_MS);
    await until(() => kept.some(({ headers }) => headers.group?.startsWith(`${name}-`)), LATE_MS);
    const letter = kept.find(({ headers }) => headers.group?.startsWith(`${name}-`));
    expect(letter?.value.length).toBe(64 * 1024);
    expect(letter?.headers).toMatchObject({
      reason: 'the record is too large',
      'cut-from-bytes': String(flood.value.length),
    });
  });

  test('a trade whose seller lacks the credit is told to the exchange, and moves nothing', async () => {
    const { market, startWorker, grant, credit, trade, trades, seller, buyer } = newWorld();
    await grant(1_000_000_000n);
    const rejected = await read(REJECTED_TRADES_TOPIC);
    await startWorker();
    await send(
      TRADES_TOPIC,
      messagesOf([trade(market, 1, { size: '1.5' }), trade(market, 2, { size: '1' })]),
    );
    await until(() => rejected.some(({ value }) => value.includes(`"${market}-1"`)), LATE_MS);
    await until(async () => (await trades(market)) === 2, LATE_MS);
    await until(async () => (await credit(seller)) === 0n, LATE_MS);
    await until(async () => (await credit(buyer)) === 1_000_000_000n, LATE_MS);
  });

  test('workers that come and go, and read the same twice, lose no trade and count none twice', async () => {
    const { startWorker, marketOfNumber, grant, credit, trade, trades, name, seller, buyer } = newWorld();
    const markets = Array.from({ length: 12 }, (_, i) => marketOfNumber(i));
    const [ROUNDS, EACH] = [5, 40];
    const all = BigInt(markets.length * ROUNDS * EACH) * 1_000_000_000n;
    await grant(all);
    let worker = await startWorker();
    // One that is of no group of theirs reads all of it once more, at the same time.
    const beside = await startWorker(`${name}-beside`);
    for (let round = 0; round < ROUNDS; round++) {
      const seqs = Array.from({ length: EACH }, (_, i) => round * EACH + i + 1);
      const sending = send(
        TRADES_TOPIC,
        messagesOf(seqs.flatMap((seq) => markets.map((market) => trade(market, seq)))),
      );
      const next = await startWorker();
      await sending;
      await worker.stop();
      worker = next;
    }
    const isAll = async () => {
      const counts = await Promise.all(markets.map(trades));
      return counts.every((count) => count >= ROUNDS * EACH) && (await credit(seller)) === 0n;
    };
    await until(isAll, LATE_MS);
    await beside.stop();
    // And once more from the beginning, when all of it is done.
    const late = await startWorker(`${name}-late`);
    await until(() => late.pipeline.mover.counts.moved >= markets.length * ROUNDS * EACH, LATE_MS);
    expect(await Promise.all(markets.map(trades))).toEqual(markets.map(() => ROUNDS * EACH));
    expect([await credit(seller), await credit(buyer)]).toEqual([0n, all]);
    expect(late.pipeline.mover.inTransitNanoUsd).toBe(0n);
  });
});
