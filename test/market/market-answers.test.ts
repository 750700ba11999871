import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MARKET_CACHE_MS } from '#core/limits.ts';
import { CALL_ID_HEADER } from '../support/edge-app.ts';
import { rawRequest } from '../support/raw-http.ts';
import { openMarket } from './market-errors.ts';
import { bookOf, levels, MARKET, type MarketWorld, startMarketWorld } from './market-world.ts';

const PATHS = ['/dex/markets', `/dex/markets/${MARKET}/book`, `/dex/markets/${MARKET}/candles`] as const;
const [LIST, BOOK, CANDLES] = PATHS;

let world: MarketWorld;
beforeAll(async () => {
  world = await startMarketWorld({ weightPerMinute: 1_000_000 });
  await openMarket(world);
});
afterAll(() => world[Symbol.asyncDispose]());

describe.each(PATHS)('GET %s', (path) => {
  test('is for anybody: a wrong key sent along changes nothing', async () => {
    const plain = await (await world.get(path)).text();
    for (const headers of [
      { authorization: 'Bearer fg_wrong' },
      { authorization: 'Bearer fg_one', 'x-api-key': 'fg_two' },
      { authorization: 'Basic dXNlcjpwYXNz' },
      { authorization: `Bearer ${world.edge.revokedKey}` },
      { authorization: `Bearer ${world.edge.key}` },
    ]) {
      const answer = await world.get(path, headers as Record<string, string>);
      expect(answer.status).toBe(200);
      expect(await answer.text()).toBe(plain);
    }
  });

  test('may be kept for a second, is read by pages of any origin, and has the call’s id', async () => {
    const { headers } = await world.get(path, { origin: 'https://page.example.com' });
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('cache-control')).toBe('public, max-age=1');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get(CALL_ID_HEADER)).toMatch(/^\d+$/);
    expect(headers.get('x-request-id')).toBe(headers.get(CALL_ID_HEADER));
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-expose-headers')?.split(', ')).toEqual([
      CALL_ID_HEADER,
      'x-request-id',
      'etag',
      'retry-after',
      'retry-after-ms',
      'x-used-weight-1m',
    ]);
  });

  test('tells who has it already so in a line, which weighs the same', async () => {
    const first = await world.get(path, { 'x-forwarded-for': `203.0.113.${PATHS.indexOf(path)}` });
    const etag = first.headers.get('etag') ?? '';
    const used = Number(first.headers.get('x-used-weight-1m'));
    for (const [index, known] of [etag, `W/${etag}`, `"other", ${etag}`, '*'].entries()) {
      const again = await world.get(path, {
        'if-none-match': known,
        'x-forwarded-for': `203.0.113.${PATHS.indexOf(path)}`,
      });
      expect(again.status).toBe(304);
      expect(await again.text()).toBe('');
      expect(again.headers.get('etag')).toBe(etag);
      expect(again.headers.get('content-type')).toBeNull();
      expect(again.headers.get('access-control-allow-origin')).toBe('*');
      expect(again.headers.get('x-used-weight-1m')).toBe(String(used * (index + 2)));
    }
    expect((await world.get(path, { 'if-none-match': '"other"' })).status).toBe(200);
  });

  test('by HEAD has the same head and no body', async () => {
    const head = await world.get(path, {}, 'HEAD');
    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
    expect(head.headers.get('content-length')).toBe(String((await (await world.get(path)).text()).length));
  });

  test('lets a page send a key along', async () => {
    const asked = await world.get(
      path,
      {
        origin: 'https://page.example.com',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization,x-anything',
      },
      'OPTIONS',
    );
    expect(asked.status).toBe(204);
    expect(await asked.text()).toBe('');
    expect(asked.headers.get('access-control-allow-origin')).toBe('*');
    expect(asked.headers.get('access-control-allow-methods')).toBe('GET');
    expect(asked.headers.get('access-control-allow-headers')).toBe('*, authorization, x-api-key');
    expect(asked.headers.get('x-used-weight-1m')).toBeNull();
  });
});

test.each(['/videos/models', '/images/models'])('%s lets a page send a key along, too', async (path) => {
  const asked = await world.get(path, {}, 'OPTIONS');
  expect(asked.status).toBe(204);
  expect(asked.headers.get('access-control-allow-headers')).toBe('*, authorization, x-api-key');
});

test.each(['/balance', '/models', '/chat/completions', '/dex', `/dex/markets/${MARKET}`])(
  'OPTIONS of %s, which is not for pages, is no path',
  async (path) => {
    const asked = await world.get(path, {}, 'OPTIONS');
    expect(asked.status).toBe(404);
    expect(asked.headers.get('access-control-allow-origin')).toBeNull();
  },
);

test.each([
  ['GET', '/dex'],
  ['GET', `/dex/markets/${MARKET}`],
  ['GET', `/dex/markets/${MARKET}/book/more`],
  ['GET', '/dex/markets/%ff'],
  ['POST', '/dex/markets'],
])('%s %s, where nothing is, says so to pages of other origins, too', async (method, path) => {
  const answer = await world.get(path, { origin: 'https://page.example.com' }, method);
  expect(answer.status).toBe(404);
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  expect(answer.headers.get('access-control-expose-headers')).toContain('x-request-id');
  expect(JSON.parse(await answer.text())).toEqual({
    error: { code: 'not_found', message: expect.stringMatching(/./) },
  });
});

test('what is not there outside of the markets is for no other page', async () => {
  for (const path of ['/nothing', '/dexter', '/models/x/y']) {
    expect((await world.get(path)).headers.get('access-control-allow-origin')).toBeNull();
  }
});

describe('weights', () => {
  let last = 0;
  const newAddress = () => {
    last += 1;
    return `198.51.100.${last}`;
  };
  const usedBy = async (paths: readonly string[], address = newAddress()): Promise<number[]> => {
    const used: number[] = [];
    for (const path of paths) {
      const answer = await world.get(path, { 'x-forwarded-for': address });
      used.push(Number(answer.headers.get('x-used-weight-1m')));
    }
    return used;
  };

  test('a book weighs 1 up to a depth of 20 and 5 above, candles and the list 2', async () => {
    expect(
      await usedBy([BOOK, `${BOOK}?depth=1`, `${BOOK}?depth=20`, `${BOOK}?depth=21`, `${BOOK}?depth=100`]),
    ).toEqual([1, 2, 3, 8, 13]);
    expect(await usedBy([CANDLES, `${CANDLES}?limit=1`, `${CANDLES}?limit=1000`, LIST])).toEqual([
      2, 4, 6, 8,
    ]);
  });

  test('what is refused counts, too, but for a parameter that the endpoint does not take', async () => {
    const address = newAddress();
    expect(
      await usedBy([`${BOOK}?depth=0`, `${CANDLES}?limit=0`, '/dex/markets/none/book'], address),
    ).toEqual([1, 3, 4]);
    const unknown = await world.get(`${BOOK}?x=1`, { 'x-forwarded-for': address });
    expect(unknown.headers.get('x-used-weight-1m')).toBeNull();
    expect(await usedBy([BOOK], address)).toEqual([5]);
  });

  test('exactly 1,200 pass in a minute of the UTC clock; what does not fit any more is refused, what does is not', async () => {
    await using limited = await startMarketWorld();
    await openMarket(limited);
    const ask = (path: string, address = newAddress()) => limited.get(path, { 'x-forwarded-for': address });
    const address = newAddress();
    for (let i = 0; i < 599; i++) expect((await ask(LIST, address)).status).toBe(200);
    const tooMuch = await ask(`${BOOK}?depth=100`, address);
    expect([tooMuch.status, tooMuch.headers.get('x-used-weight-1m')]).toEqual([429, '1198']);
    expect(tooMuch.headers.get('access-control-expose-headers')).toContain('x-used-weight-1m');
    expect((await ask(BOOK, address)).status).toBe(200);
    expect((await ask(BOOK, address)).headers.get('x-used-weight-1m')).toBe('1200');
    const refused = await ask(BOOK, address);
    expect(refused.status).toBe(429);
    // The minute has 29.5 seconds left.
    expect(refused.headers.get('retry-after')).toBe('30');
    expect(refused.headers.get('retry-after-ms')).toBe('29500');
    expect((await ask(BOOK)).status).toBe(200);
    limited.clock.advance(29_499);
    expect((await ask(BOOK, address)).headers.get('retry-after')).toBe('1');
    limited.clock.advance(1);
    await limited.live.publishBook(MARKET, bookOf());
    const next = await ask(BOOK, address);
    expect([next.status, next.headers.get('x-used-weight-1m')]).toEqual([200, '1']);
  });

  test('all addresses of one IPv6 network of 64 bits count together', async () => {
    expect(await usedBy([BOOK], '2001:db8:1:2::1')).toEqual([1]);
    expect(await usedBy([BOOK], '2001:db8:1:2:ffff::9')).toEqual([2]);
    expect(await usedBy([BOOK], '2001:db8:1:3::1')).toEqual([1]);
  });

  test('an address that a stranger writes into a header is nobody’s', async () => {
    const address = newAddress();
    expect(await usedBy([BOOK], `203.0.113.77, ${address}`)).toEqual([1]);
    expect(await usedBy([BOOK], `203.0.113.78, ${address}`)).toEqual([2]);
  });
});

test('the same request again is not read anew, and one that is refused is not remembered', async () => {
  const { asked } = world;
  asked.length = 0;
  world.clock.advance(MARKET_CACHE_MS);
  for (let i = 0; i < 5; i++) {
    expect((await world.get(`${BOOK}?depth=3`)).status).toBe(200);
    expect((await world.get(`${BOOK}?depth=101`)).status).toBe(400);
    expect((await world.get('/dex/markets/none/book')).status).toBe(404);
  }
  expect(asked).toEqual(['listings', `book ${MARKET}`]);
});

test.each(PATHS)('%s is found by its whole address, too, as a proxy may send it', async (path) => {
  const asked = async (target: string) => {
    const answer = await rawRequest(world.edge.port, [`GET ${target} HTTP/1.1`, 'Host: edge'], '');
    return [answer?.status, answer?.body];
  };
  const found = await asked(`/v1${path}`);
  expect(found[0]).toBe(200);
  expect(await asked(`http://edge/v1${path}`)).toEqual(found);
});

test('two requests in one packet are two answers', async () => {
  const head = `GET /v1${BOOK}?depth=1 HTTP/1.1\r\nHost: edge\r\n\r\n`;
  const answer = await rawRequest(world.edge.port, [`GET /v1${LIST} HTTP/1.1`, 'Host: edge'], head);
  expect(answer?.status).toBe(200);
  expect(JSON.parse(answer?.body ?? '').object).toBe('list');
});

test('a book of full depth is whole', async () => {
  const bids = levels(...Array.from({ length: 100 }, (_, n) => `0.${String(899 - n)}`));
  const asks = levels(...Array.from({ length: 100 }, (_, n) => `0.${String(900 + n)}`));
  await world.live.publishBook(MARKET, bookOf({ seq: 99, bids, asks }));
  world.clock.advance(MARKET_CACHE_MS);
  const sides = async (query: string) => {
    const book: { bids: object[]; asks: object[] } = JSON.parse(await (await world.get(BOOK + query)).text());
    return [book.bids, book.asks];
  };
  expect(await sides('?depth=100')).toEqual([bids, asks]);
  expect(await sides('')).toEqual([bids.slice(0, 20), asks.slice(0, 20)]);
});
