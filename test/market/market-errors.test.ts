import { expect, test } from 'vitest';
import type { ErrorRow } from '../../api/contract/errors.ts';
import { marketErrorTable } from '../../api/contract/market-errors.ts';
import { MarketErrorResponse } from '../../openapi/generate/error-response.ts';
import { CALL_ID_HEADER } from '../support/edge-app.ts';
import { rawRequest } from '../support/raw-http.ts';
import { marketRefusals, openMarket } from './market-errors.ts';
import { startMarketWorld } from './market-world.ts';

/** The spec's table by hand. */
const spec = {
  invalid_depth: 400,
  invalid_interval: 400,
  invalid_limit: 400,
  unknown_parameter: 400,
  not_found: 404,
  unknown_market: 404,
  rate_limited: 429,
};

test('the table has the codes of the spec in its order, and two that any service has', () => {
  const rows = Object.entries(marketErrorTable).map(([code, { status }]) => [code, status]);
  expect(rows).toEqual(Object.entries({ ...spec, service_unavailable: 503, gateway_error: 500 }));
});

test('every code but that of our own faults has a request that is refused with it', () => {
  const tried = new Set<string>(marketRefusals.map(({ code }) => code));
  expect([...Object.keys(marketErrorTable)].filter((code) => !tried.has(code))).toEqual(['gateway_error']);
});

test.each(marketRefusals)('$code: $method $path is refused, $wrong', async (refusal) => {
  const { code, path, method = 'GET', given = openMarket, isOff = false, usedWeight } = refusal;
  await using world = await startMarketWorld({ isOff });
  await given(world);
  // As it stands: a client's own library would mend some of these paths.
  const answer = await rawRequest(world.edge.port, [
    `${method} /v1${path} HTTP/1.1`,
    'Host: edge',
    'Content-Length: 0',
  ]);
  const row: ErrorRow = marketErrorTable[code];
  expect(answer?.status).toBe(row.status);
  const body: unknown = JSON.parse(answer?.body ?? '');
  expect(body).toEqual({ error: { code, message: refusal.message ?? row.message } });
  expect(MarketErrorResponse.safeParse(body).success).toBe(true);
  expect(answer?.headers['content-type']).toBe('application/json');
  expect(answer?.headers['cache-control']).toBe('no-store');
  expect(answer?.headers[CALL_ID_HEADER]).toMatch(/^\d+$/);
  expect(answer?.headers['x-used-weight-1m']).toBe(usedWeight === null ? undefined : String(usedWeight));
  const waits = row.status === 429 || row.status === 503;
  expect(answer?.headers['retry-after']).toEqual(waits ? expect.stringMatching(/^[1-9]\d*$/) : undefined);
  expect(JSON.stringify(answer)).not.toContain('10.0.0.7');
});

test('a fault of ours tells nothing, in the shape of markets', async () => {
  await using world = await startMarketWorld();
  await openMarket(world);
  const bid = { price: '0.85', size: '1', orders: 1n };
  world.live.readBook = async () => ({ seq: 1, atMs: 0, bids: [bid as never], asks: [] });
  const answer = await world.get('/dex/markets/credit-2026-11-25/book');
  expect(answer.status).toBe(500);
  expect(await answer.json()).toEqual({
    error: { code: 'gateway_error', message: marketErrorTable.gateway_error.message },
  });
  expect(world.edge.logged).toMatchObject([{ event: 'request failed', fields: { path: 'getOrderBook' } }]);
});
