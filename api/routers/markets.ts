import { defaultLimits, MARKET_WEIGHTS, SHALLOW_BOOK_DEPTH } from '#core/limits.ts';
import { candlesExample, marketListExample, orderBookExample } from '../contract/examples.ts';
import { BookParameters, Candles, CandlesParameters, MarketList, OrderBook } from '../contract/markets.ts';
import { publicQuery, t } from './trpc.ts';

const HEADERS = ['x-service-call-id', 'x-request-id', 'etag', 'cache-control', 'x-used-weight-1m'] as const;

const MARKET_ERRORS = ['not_found', 'unknown_market', 'rate_limited', 'service_unavailable'] as const;

const READ =
  'Needs no key, and a wrong one changes nothing. May be kept for a second. An address may use a weight of ' +
  `${defaultLimits.marketWeightPerMinute.toLocaleString('en-US')} in a minute ` +
  'of the UTC clock, unless the operator set another; `x-used-weight-1m` tells what it has used.';

export const marketsRouter = t.router({
  list: publicQuery(
    {
      method: 'GET',
      path: '/dex/markets',
      operationId: 'listMarkets',
      tag: 'Markets',
      summary: 'List the markets',
      description:
        'The markets that are open, in which credit is traded for USDT. ' +
        `Weighs ${MARKET_WEIGHTS.list}. ${READ}`,
      errors: ['unknown_parameter', 'not_found', 'rate_limited', 'service_unavailable'],
      headers: HEADERS,
      examples: { answer: marketListExample },
    },
    MarketList,
    (call) => call.deps.listMarkets(call),
  ),
  book: publicQuery(
    {
      method: 'GET',
      path: '/dex/markets/{id}/book',
      operationId: 'getOrderBook',
      tag: 'Markets',
      summary: 'Read an order book',
      description:
        `The best bids and asks of a market. Weighs ${MARKET_WEIGHTS.book} up to a depth ` +
        `of ${SHALLOW_BOOK_DEPTH}, and ${MARKET_WEIGHTS.deepBook} above. ${READ}`,
      errors: ['unknown_parameter', 'invalid_depth', ...MARKET_ERRORS],
      headers: HEADERS,
      examples: { answer: orderBookExample },
    },
    OrderBook,
    (call) => call.deps.sendBook(call),
    BookParameters,
  ),
  candles: publicQuery(
    {
      method: 'GET',
      path: '/dex/markets/{id}/candles',
      operationId: 'listCandles',
      tag: 'Markets',
      summary: 'Read candles',
      description: `What was traded in a market, interval by interval. Weighs ${MARKET_WEIGHTS.candles}. ${READ}`,
      errors: ['unknown_parameter', 'invalid_interval', 'invalid_limit', ...MARKET_ERRORS],
      headers: HEADERS,
      examples: { answer: candlesExample },
    },
    Candles,
    (call) => call.deps.sendCandles(call),
    CandlesParameters,
  ),
});
