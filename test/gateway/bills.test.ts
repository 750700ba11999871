import { afterEach, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { testDataDir } from '../support/data-dir.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { hello, startTestGateway, type TestGateway, until } from '../support/gateway.ts';
import { startTestProvider } from '../support/provider.ts';
import { sharedCluster } from '../support/shared-cluster.ts';

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

interface Bill {
  providers: string[];
  comparison: Record<'billed_usd' | 'recorded_usd' | 'difference_usd', string> | null;
  problem: string | null;
}

async function readBill(gateway: TestGateway): Promise<Bill> {
  const res = await fetch(`${gateway.running.internalUrl}/admin/ledger/bills`, {
    headers: { authorization: `Bearer ${gateway.running.adminToken.reveal()}` },
  });
  const { bills } = JSON.parse(await res.text());
  expect(bills).toHaveLength(1);
  return bills[0];
}

const keysRead = (gateway: TestGateway): number =>
  gateway.provider.requests().filter(({ path }) => path.endsWith('/key')).length;

/** A provider whose bill no other test of a cluster has compared. */
async function start(clock: FakeClock, id: string, options: object = {}): Promise<TestGateway> {
  const gateway = await startTestGateway({
    clock,
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers:
  - { id: ${id}, kind: simulator, cancel: bills_full, priceFactor: "1.5", baseUrl: PROVIDER_URL }
`,
    ...options,
  });
  stops.push(() => gateway.stop());
  return gateway;
}

it('the provider’s own bill and what our calls say of it are compared, whoever paid: now, and once a day', async () => {
  const clock = createFakeClock();
  const provider = await startTestProvider();
  stops.push(() => provider.close());
  const id = `billed-${process.pid}-${performance.now().toFixed(0)}`;
  const folder = await testDataDir();
  stops.push(async () => folder[Symbol.asyncDispose]());
  const first = await start(clock, id, { provider, dataDir: folder.path });
  expect((await readBill(first)).comparison).toBeNull();
  clock.advance(5 * MINUTE_MS);
  await until(() => keysRead(first) === 2);
  await until(async () => (await readBill(first)).comparison !== null);

  // Whole, streamed, failed but billed, dearer than its hold, and one that was billed more than it said.
  const billedError = '{"error":{"code":429,"message":"no"},"usage":{"cost":0.25}}';
  provider.next(
    {},
    {},
    { body: billedError, billUsd: '0.25' },
    { usageFields: { cost: '2.5' }, billUsd: '2.5' },
  );
  provider.next({ usageFields: { cost: '0.001' }, billUsd: '0.376' });
  for (const stream of [false, true, false, false, true]) await (await first.post(hello({ stream }))).text();
  await first.settled();
  const { comparison } = await readBill(first);
  expect(comparison?.difference_usd).toBe('0.375');
  expect(Number(comparison?.recorded_usd)).toBeGreaterThan(2.75);
  // What the agent paid has the margin in it; what the provider took has not.
  expect(provider.lastBill().costUsd).toBe('0.376');

  await first.stop();
  const second = await start(clock, id, { provider, dataDir: folder.path });
  expect((await readBill(second)).comparison).toEqual(comparison);
  // A cluster's clock cannot be moved by a day; its store is held to the same contract.
  if (sharedCluster() !== undefined) return;
  clock.advance(DAY_MS + 2 * HOUR_MS);
  await until(
    async () => (await second.metric('faregate_provider_bill_difference_usd', { provider: id })) === 0.375,
  );
  expect(await second.metric('faregate_provider_billed_usd', { provider: id })).toBe(
    Number(comparison?.billed_usd),
  );
  expect(
    second.logged.filter(({ event }) => event.startsWith("a provider's bill was compared")),
  ).toHaveLength(1);
  await until(async () => (await readBill(second)).comparison?.billed_usd === '0');
});
