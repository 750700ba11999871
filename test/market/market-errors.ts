import { DAY_MS, isoTime } from '#core/clock.ts';
import type { MarketErrorCode } from '../../api/contract/market-errors.ts';
import { bookOf, listingOf, liveOf, MARKET, type MarketWorld, NOW_MS } from './market-world.ts';

/** A request below `/v1` that is refused, and what its sender is told. */
export interface MarketRefusal {
  code: MarketErrorCode;
  /** What is wrong. */
  wrong: string;
  path: string;
  /** Default: GET. */
  method?: string;
  /** Default: the one of the table. */
  message?: string;
  /** Default: one market is open, with a book and candles. */
  given?: (world: MarketWorld) => Promise<void>;
  /** A gateway whose operator has switched markets off. */
  isOff?: true;
  /** What the address has used by then; `null`: nothing was counted. */
  usedWeight: number | null;
}

export async function openMarket({ store, live }: MarketWorld): Promise<void> {
  await store.putListing(listingOf());
  await live.publishBook(MARKET, bookOf());
  await live.publishCandles(MARKET, liveOf());
}

const book = (query: string) => `/dex/markets/${MARKET}/book?${query}`;
const candles = (query: string) => `/dex/markets/${MARKET}/candles?${query}`;
const bookIn = (market: string) => `/dex/markets/${market}/book`;

const invalid = (
  code: MarketErrorCode,
  usedWeight: number,
  path: (value: string) => string,
  values: Readonly<Record<string, string>>,
): MarketRefusal[] =>
  Object.entries(values).map(([wrong, value]) => ({ code, wrong, path: path(value), usedWeight }));

/** Of a number from 1 on, whatever its maximum. */
const noWholeNumbers = {
  zero: '0',
  negative: '-1',
  'with a sign': '%2B5',
  'with a plus, which is a blank': '+5',
  'with a blank before it': '%205',
  'with a blank behind it': '5%20',
  'with a line end': '5%0A',
  'with a leading zero': '05',
  'with a fraction': '1.0',
  'with an exponent': '1e1',
  'in hexadecimal': '0x5',
  'with a separator': '1%2C0',
  empty: '',
  'no number': 'all',
  'not a number': 'NaN',
  infinite: 'Infinity',
  'in Arabic digits': '%D9%A5',
  'of twenty digits': '9'.repeat(20),
  'a broken escape': '%ff',
};

const unknown = (path: string, message: string, wrongs: Readonly<Record<string, string>>): MarketRefusal[] =>
  Object.entries(wrongs).map(([wrong, query]) => ({
    code: 'unknown_parameter',
    wrong,
    path: `${path}?${query}`,
    message,
    usedWeight: null,
  }));

const unknownMarkets: Readonly<Record<string, string>> = {
  'of no market': 'credit-2026-11-26',
  'no id at all': 'credit',
  'of a day that there is not': 'credit-2026-02-30',
  'in capitals': MARKET.toUpperCase(),
  'with a blank': `${MARKET}%20`,
  'with a line end': `${MARKET}%0A`,
  'with an escaped slash': `${MARKET}%2Fbook`,
  'with an escape, though it means the same': '%63redit-2026-11-25',
  'with a broken escape': '%ff',
  'half an escape': '%',
  'in Unicode': '%F0%9F%9A%A3-2026-11-25',
  'in Unicode that looks the same': '%D1%81redit-2026-11-25',
  'of 1 KB': `${'a'.repeat(1_013)}-2026-11-25`,
  'of JavaScript’s own': '__proto__',
};

const NO_PATH = 'Nothing is served at this path and method; check both against the API reference.';

/** Spec: Errors, Market endpoints. Every code, and every way to it. */
export const marketRefusals: readonly MarketRefusal[] = [
  ...invalid('invalid_depth', 1, (value) => book(`depth=${value}`), {
    ...noWholeNumbers,
    'more than 100': '101',
    'ten thousand': '10000',
  }),
  { code: 'invalid_depth', wrong: 'without a value', path: book('depth'), usedWeight: 1 },
  ...invalid('invalid_interval', 2, (value) => candles(`interval=${value}`), {
    empty: '',
    'none of the six': '2m',
    'in capitals': '1H',
    'of a month': '1M',
    'with a blank': '1h%20',
    'in seconds': '60',
    'of JavaScript’s own': 'constructor',
  }),
  {
    code: 'invalid_interval',
    wrong: 'beside a wrong limit',
    path: candles('limit=0&interval=x'),
    usedWeight: 2,
  },
  ...invalid('invalid_limit', 2, (value) => candles(`limit=${value}`), {
    ...noWholeNumbers,
    'more than 1,000': '1001',
  }),
  ...unknown(`/dex/markets/${MARKET}/book`, 'This endpoint takes `depth` alone, each once.', {
    'of no endpoint': 'levels=5',
    'of another endpoint': 'limit=5',
    'sent twice': 'depth=5&depth=5',
    'sent twice, once escaped': 'depth=5&%64epth=5',
    'in capitals': 'Depth=5',
    'as an array': 'depth[]=5',
    'without a name': '=5',
    'beside a wrong depth': 'depth=0&x=1',
    'of JavaScript’s own': '__proto__=5',
  }),
  ...unknown(
    `/dex/markets/${MARKET}/candles`,
    'This endpoint takes `interval` and `limit` alone, each once.',
    {
      'of other exchanges': 'startTime=1',
      'of another endpoint': 'depth=5',
      'an interval sent twice': 'interval=1h&interval=1h',
      'a limit sent twice': 'limit=5&limit=6',
    },
  ),
  ...unknown('/dex/markets', 'This endpoint takes no query parameters.', { 'of a list': 'limit=5' }),
  ...unknown('/dex/markets/credit-2020-01-01/book', 'This endpoint takes `depth` alone, each once.', {
    'of a market that is closed': 'levels=5',
  }),
  ...['/dex/markets', bookIn(MARKET), `/dex/markets/${MARKET}/candles`].flatMap((path): MarketRefusal[] => {
    const usedWeight = path.endsWith('book') ? 1 : 2;
    return [
      { code: 'not_found', wrong: 'before the exchange opens', path, given: async () => {}, usedWeight },
      { code: 'not_found', wrong: 'where markets are switched off', path, isOff: true, usedWeight },
    ];
  }),
  ...[
    '/dex',
    '/dex/',
    '/dex/markets/',
    `/dex/markets/${MARKET}`,
    `/dex/markets/${MARKET}/`,
    `/dex/markets/${MARKET}/book/`,
    `/dex/markets/${MARKET}/Book`,
    `/dex/markets/${MARKET}/trades`,
    `/dex/markets/${MARKET}/more/book`,
    '/dex/markets//book',
    '/dex/markets/%2F/more/candles',
    '/dex/%ff',
  ].map(
    (path): MarketRefusal => ({
      code: 'not_found',
      wrong: 'no path of the API',
      path,
      message: NO_PATH,
      usedWeight: null,
    }),
  ),
  ...['POST', 'PUT', 'DELETE', 'PATCH'].map(
    (method): MarketRefusal => ({
      code: 'not_found',
      wrong: `by ${method}`,
      path: bookIn(MARKET),
      method,
      message: NO_PATH,
      usedWeight: null,
    }),
  ),
  ...Object.entries(unknownMarkets).map(
    ([wrong, market]): MarketRefusal => ({
      code: 'unknown_market',
      wrong,
      path: bookIn(market),
      usedWeight: 1,
    }),
  ),
  {
    code: 'unknown_market',
    wrong: 'of a market that has closed',
    path: `/dex/markets/credit-2026-11-18/candles`,
    given: async (world) => {
      await openMarket(world);
      await world.store.putListing(listingOf('credit-2026-11-18'));
    },
    usedWeight: 2,
  },
  {
    code: 'unknown_market',
    wrong: `of a market that opens at ${isoTime(NOW_MS + 1)}, a millisecond from now`,
    path: bookIn('credit-2026-11-26'),
    given: async (world) => {
      await openMarket(world);
      await world.store.putListing(listingOf('credit-2026-11-26', { opensAt: NOW_MS + 1 }));
    },
    usedWeight: 1,
  },
  {
    code: 'rate_limited',
    wrong: 'beyond the weight of its minute',
    path: bookIn(MARKET),
    given: async (world) => {
      await openMarket(world);
      for (let used = 0; used < 1_200; used += 2) await (await world.get('/dex/markets')).arrayBuffer();
    },
    usedWeight: 1_200,
  },
  {
    code: 'service_unavailable',
    wrong: 'of a book that has stopped',
    path: bookIn(MARKET),
    given: async (world) => {
      await openMarket(world);
      await world.live.publishBook(MARKET, null);
    },
    usedWeight: 1,
  },
  {
    code: 'service_unavailable',
    wrong: 'of a book of which nobody has said anything for long',
    path: bookIn(MARKET),
    given: async (world) => {
      await openMarket(world);
      world.clock.advance(DAY_MS / 2);
    },
    usedWeight: 1,
  },
  ...['/dex/markets', bookIn(MARKET), candles('limit=5')].map(
    (path): MarketRefusal => ({
      code: 'service_unavailable',
      wrong: 'while the store of markets is away',
      path,
      given: async ({ store }) => {
        store.beforeRead = () => Promise.reject(new Error('the database at 10.0.0.7 said no'));
      },
      usedWeight: path.includes('book') ? 1 : 2,
    }),
  ),
];
