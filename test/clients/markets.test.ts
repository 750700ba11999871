import { afterAll, beforeAll, expect, it } from 'vitest';
import { showMarket } from '../market/shown-market.ts';
import { documentText } from '../support/edge-app.ts';
import { startTestGateway, type TestGateway, until } from '../support/gateway.ts';
import { type GeneratedClient, generateClient } from '../support/generated-client.ts';
import { marketProgram, wrongMarketProgram } from './market-program.ts';

let gateway: TestGateway;
let client: GeneratedClient;
let shown: Awaited<ReturnType<typeof showMarket>>;

beforeAll(async () => {
  gateway = await startTestGateway();
  client = await generateClient(documentText);
  await client.write('markets.ts', marketProgram);
  await client.write('wrong.ts', wrongMarketProgram);
  shown = await showMarket(gateway.running.deps.store.markets, 'by-client', 300);
  const list = () => fetch(`${gateway.baseUrl}/dex/markets`).then((answer) => answer.text());
  await until(async () => (await list()).includes(shown.market));
});
afterAll(async () => {
  await shown[Symbol.asyncDispose]();
  await client[Symbol.asyncDispose]();
  await gateway.stop();
});

it('a generated client compiles, and types the values that parameters take', async () => {
  expect(await client.compile('markets.ts')).toBe('');
  const output = await client.compile('wrong.ts');
  expect(output.match(/wrong\.ts\(\d+/g)?.map((each) => each.slice(-1))).toEqual(['5', '6', '7']);
});

it('a generated client reads the list, a book and candles without a key', async () => {
  const { weight, ...told } = JSON.parse(await client.run('markets.ts', gateway.baseUrl, shown.market));
  expect(told).toEqual({
    lastPrice: '0.85',
    seq: 7,
    isRecent: true,
    best: ['0.85', '10', 1],
    fresh: '0.9',
    closes: ['0.85', '0.9', '0.85'],
    trades: 1,
    code: 'unknown_market',
  });
  expect(weight).toBeGreaterThanOrEqual(6);
});
