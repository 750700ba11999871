import { DAY_MS, isoTime, MINUTE_MS, startOfDayMs, systemClock } from '#core/clock.ts';
import { BOOK_TOPIC } from '#core/events/book-record.ts';
import { MARKETS_TOPIC } from '#core/events/market-listing.ts';
import { TRADES_TOPIC } from '#core/events/market-trade.ts';
import { CANDLES_DEFAULT } from '#core/limits.ts';
import { until } from '../support/gateway.ts';
import { marketBars } from './bars.ts';
import { compareToBare } from './compare-to-bare.ts';
import { type GatewayUnderTest, startGateway } from './gateway.ts';
import { canMeasure } from './process-figures.ts';
import type { Bench } from './run-part.ts';

/** What anybody reads, over and over, as the page of an exchange does: the same bytes for a second. */
export async function benchReads(bench: Bench): Promise<void> {
  if (!canMeasure) return bench.report.line('CPU is measured on Linux only');
  // No call is made: its provider is never asked.
  const gateway = await startGateway({ providerPort: 1, core: bench.coreUnderTest });
  bench.later(gateway.stop);
  const market = await openMarket(gateway);
  const reads = [
    { what: 'GET /v1/dex/markets/{id}/book', path: `/v1/dex/markets/${market}/book`, expected: '"asks":[{' },
    {
      what: `GET /v1/dex/markets/{id}/candles (${CANDLES_DEFAULT})`,
      path: `/v1/dex/markets/${market}/candles?interval=1m&limit=${CANDLES_DEFAULT}`,
      expected: '"candles":[{',
    },
  ];
  // Of so little work, a slice in which the host was busy is half as much again: the median takes twice as many.
  const sizes = { ...bench.sizes, rounds: 2 * bench.sizes.rounds };
  for (const { what, path, expected } of reads) {
    await until(async () => (await (await fetch(gateway.target.origin + path)).text()).includes(expected));
    const request = { method: 'GET', paths: [path], headers: {}, body: null, expected } as const;
    await compareToBare({ ...bench, sizes }, gateway, what, request, marketBars.read);
  }
  await gateway.stop();
}

/** With a book of 20 levels a side, and in each of the last minutes a trade of the credit that agents were granted today. */
async function openMarket(gateway: GatewayUnderTest): Promise<string> {
  const nowMs = systemClock.now();
  const market = `bench-${isoTime(startOfDayMs(nowMs) + 8 * DAY_MS).slice(0, 10)}`;
  const of = { v: 1, market };
  const listing = { ...of, type: 'market_listed', version: 1, opensAt: isoTime(nowMs - DAY_MS) };
  await gateway.feed(MARKETS_TOPIC, [
    { ...listing, priceTick: '0.001', sizeStep: '0.01', freshPrice: '0.95' },
  ]);
  const side = (first: number, step: number) =>
    Array.from({ length: 20 }, (_, n) => ({
      price: String((first + n * step) / 1_000),
      size: `${100 + n}.25`,
      orders: n + 1,
    }));
  const book = { ...of, type: 'book_snapshot', seq: 1, at: isoTime(nowMs) };
  await gateway.feed(BOOK_TOPIC, [{ ...book, bids: side(899, -1), asks: side(901, 1) }]);
  const [sellerAgentId, buyerAgentId] = gateway.agentIds;
  const trades = Array.from({ length: CANDLES_DEFAULT + 1 }, (_, n) => ({
    ...of,
    type: 'traded',
    seq: n + 1,
    tradeId: `bench-${n}`,
    at: isoTime(nowMs - (CANDLES_DEFAULT - n) * MINUTE_MS),
    price: String((880 + (n % 40)) / 1_000),
    size: `${1 + (n % 7)}.5`,
    sellerAgentId,
    buyerAgentId,
  }));
  await gateway.feed(TRADES_TOPIC, trades);
  return market;
}
