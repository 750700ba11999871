import { afterAll, beforeAll, expect, it } from 'vitest';
import { isoTime, systemClock } from '#core/clock.ts';
import { MARKET_CACHE_MS } from '#core/limits.ts';
import { minuteOf } from '#core/rates/address-weights.ts';
import { bookOf } from '../market/market-world.ts';
import { showMarket } from '../market/shown-market.ts';
import { startTestGateway, type TestGateway, until } from '../support/gateway.ts';

const serverYaml = (limits = '') => `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1, trustedProxies: [127.0.0.0/8] }
providers: [{ id: sim, kind: simulator, baseUrl: PROVIDER_URL }]
${limits}
`;

let gateway: TestGateway;
let shown: Awaited<ReturnType<typeof showMarket>>;
beforeAll(async () => {
  gateway = await startTestGateway({ yaml: serverYaml() });
  // The newest of all: no credit lasts so long.
  shown = await showMarket(gateway.running.deps.store.markets, 'either-shape', 400);
  await until(async () => (await get(`/dex/markets/${shown.market}/candles`)).status === 200);
});
afterAll(async () => {
  await shown[Symbol.asyncDispose]();
  await gateway.stop();
});

const get = (path: string, headers: Record<string, string> = {}, at: TestGateway = gateway) =>
  fetch(at.baseUrl + path, { headers });
const read = async (path: string) => {
  const answer = await get(path);
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  return JSON.parse(text);
};

it('the list, the book and the candles of a market are read without a key', async () => {
  const { market, opensAt } = shown;
  const { markets } = await read('/dex/markets');
  expect(markets).toContainEqual({
    id: market,
    base: 'credit',
    quote: 'USDT',
    opens_at: isoTime(opensAt),
    ends_at: `${market.slice(-10)}T00:00:00.000Z`,
    newest: true,
    last_price: '0.85',
    best_bid: '0.85',
    best_ask: '0.86',
    volume_24h: '120.5',
    price_tick: '0.001',
    size_step: '0.01',
  });
  const book = await read(`/dex/markets/${market}/book?depth=2`);
  const { bids, asks } = bookOf();
  expect(book).toEqual({
    ...{ market, seq: 7, time: expect.any(Number), bids: bids.slice(0, 2), asks },
    freshPrice: '0.9',
  });
  expect(Math.abs(book.time - systemClock.now())).toBeLessThan(10 * MARKET_CACHE_MS);
  const { candles } = await read(`/dex/markets/${market}/candles?limit=10`);
  expect(candles.map(({ close, trades }: { close: string; trades: number }) => [close, trades])).toEqual([
    ['0.85', 1],
    ['0.9', 2],
    ['0.85', 1],
  ]);
});

it('what is refused below /dex has the shape of markets', async () => {
  const refused = async (path: string, method = 'GET') => {
    const answer = await fetch(gateway.baseUrl + path, { method });
    return [answer.status, JSON.parse(await answer.text())];
  };
  expect(await refused(`/dex/markets/${shown.market}/book?depth=101`)).toEqual([
    400,
    { error: { code: 'invalid_depth', message: '`depth` has to be a whole number from 1 to 100.' } },
  ]);
  expect(await refused('/dex/markets/credit-2020-01-01/book')).toMatchObject([
    404,
    { error: { code: 'unknown_market' } },
  ]);
  for (const [path, method] of [
    ['/dex'],
    ['/dex/markets/'],
    [`/dex/markets/${shown.market}/book`, 'POST'],
  ] as const) {
    const [status, body] = await refused(path, method);
    expect([status, body.error.code, Object.keys(body.error)]).toEqual([
      404,
      'not_found',
      ['code', 'message'],
    ]);
  }
  expect(await refused('/dexes')).toMatchObject([404, { error: { type: 'not_found_error', param: null } }]);
});

it('an address that has used its weight is told when the next minute begins, by whatever gateway it asks', async () => {
  await using other = await startTestGateway({ yaml: serverYaml() });
  const address = { 'x-forwarded-for': `2001:db8:${Math.floor(Math.random() * 0xffff).toString(16)}::1` };
  const isShared = gateway.running.deps.workers.feeds === 'kafka';
  let passed = 0;
  let last: Response;
  const beganAt = minuteOf(systemClock.now());
  do {
    last = await get(
      `/dex/markets/${shown.market}/book?depth=100`,
      address,
      isShared && passed % 10 === 0 ? other : gateway,
    );
    if (last.status !== 429) passed += 5;
    await last.arrayBuffer();
  } while (last.status !== 429);
  // A run that a minute ended in has had two of them.
  if (minuteOf(systemClock.now()) === beganAt) expect(passed).toBe(1_200);
  expect(last.headers.get('x-used-weight-1m')).toBe('1200');
  const waitMs = Number(last.headers.get('retry-after-ms'));
  expect(waitMs).toBeGreaterThan(0);
  expect(waitMs).toBeLessThanOrEqual(60_000);
  expect(Number(last.headers.get('retry-after'))).toBe(Math.ceil(waitMs / 1_000));
});

it('with `market: off` nothing is there, and nothing is kept of it', async () => {
  await using off = await startTestGateway({ yaml: serverYaml('market: off') });
  for (const path of [
    '/dex/markets',
    `/dex/markets/${shown.market}/book`,
    `/dex/markets/${shown.market}/candles`,
  ]) {
    const answer = await get(path, {}, off);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ error: { code: 'not_found' } });
  }
});
