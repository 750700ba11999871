/** A user's program on types that are generated from the document: what a page of a market reads. */
export const marketProgram = `
import createClient from 'openapi-fetch';
import type { components, paths } from './faregate.d.ts';

const [, , baseUrl, market = ''] = process.argv;
const client = createClient<paths, 'application/json'>({ baseUrl });
const path = { id: market };

const list = await client.GET('/dex/markets');
if (list.data === undefined) throw new Error(list.error.error.code);
const listed: components['schemas']['Market'] | undefined = list.data.markets.find(({ id }) => id === market);
const lastPrice: string | null | undefined = listed?.last_price;

const book = await client.GET('/dex/markets/{id}/book', { params: { path, query: { depth: 2 } } });
if (book.data === undefined) throw new Error(book.error.error.message);
const { seq, time, bids, asks, freshPrice } = book.data;
const best: [string | undefined, string | undefined, number | undefined] = [bids[0]?.price, asks[0]?.size, bids[0]?.orders];
const fresh: string | null = freshPrice;

const candles = await client.GET('/dex/markets/{id}/candles', {
  params: { path, query: { interval: '1h', limit: 10 } },
});
const closes: string[] = candles.data?.candles.map(({ close }) => close) ?? [];
const trades: number | undefined = candles.data?.candles[0]?.trades;

const refused = await client.GET('/dex/markets/{id}/book', { params: { path: { id: 'none' } } });
const code: string | undefined = refused.error?.error.code;
const weight = Number(refused.response.headers.get('x-used-weight-1m'));
const isRecent = Math.abs(time - Date.now()) < 60_000;
console.log(JSON.stringify({ lastPrice, seq, isRecent, best, fresh, closes, trades, code, weight }));
`;

/** Must not compile: what the endpoints do not take. */
export const wrongMarketProgram = `
import createClient from 'openapi-fetch';
import type { paths } from './faregate.d.ts';
const client = createClient<paths>({ baseUrl: 'http://x' });
await client.GET('/dex/markets/{id}/candles', { params: { path: { id: 'a' }, query: { interval: '2h' } } });
await client.GET('/dex/markets/{id}/book', { params: { path: { id: 'a' }, query: { depth: '5' } } });
await client.GET('/dex/markets/{id}/book', { params: { path: {} } });
`;
