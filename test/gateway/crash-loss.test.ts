import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SECOND_MS } from '#core/clock.ts';
import type { ScriptRule } from '../../api/simulator/script-rule.ts';
import { testDataDir } from '../support/data-dir.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { hello, startTestGateway, type TestGateway, until } from '../support/gateway.ts';
import { startTestProvider } from '../support/provider.ts';

/** The files as a kill at this moment leaves them: the process itself lives on, and that changes nothing in them. */
function filesAfterKill(from: TestGateway, to: string): void {
  for (const name of readdirSync(from.dataDir)) {
    if (/^ledger\.(lock|pid)/.test(name)) continue;
    cpSync(join(from.dataDir, name), join(to, name), { recursive: true });
  }
}

/** Once the journal has caught up, whose disk lives in real time; what the provider has sent by then is read. */
async function pass(gateway: TestGateway, clock: FakeClock, ms: number): Promise<void> {
  await until(() => gateway.running.deps.store.lag().events === 0);
  clock.advance(ms);
  await new Promise((resolve) => setImmediate(resolve));
}

/** A gateway killed once its running call's answer is named in the journal, and the one started on what it left. */
async function killedOnceNamed(stream: boolean, rule: ScriptRule) {
  const stack = new AsyncDisposableStack();
  const folder = stack.use(await testDataDir());
  const provider = stack.use(await startTestProvider());
  const clock = createFakeClock();
  const killed = stack.use(await startTestGateway({ provider, clock }));
  provider.next({ chunks: 5, gate: 'cut', ...rule });
  const call = killed.post(hello({ stream }));
  await provider.reached('cut');
  // The provider's id goes to the journal with the next lease.
  await until(async () => {
    await pass(killed, clock, SECOND_MS);
    return (await killed.view()).holds.some((hold) => hold.generationId !== null);
  });
  filesAfterKill(killed, folder.path);
  provider.release('cut');
  await (await call).text();

  const next = stack.use(await startTestGateway({ dataDir: folder.path, provider, clock }));
  await until(async () => {
    await pass(next, clock, 10 * SECOND_MS);
    return (await next.view(killed.agent)).holds.length === 0;
  });
  const { chargedNanoUsd } = await next.view(killed.agent);
  return { next, provider, chargedNanoUsd, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const lossOf = async (gateway: TestGateway) => ({
  calls: await gateway.metric('faregate_operator_loss_calls_total', { cause: 'crash' }),
  usd: await gateway.metric('faregate_operator_loss_usd_total', { cause: 'crash' }),
});

it('a kill between calls loses nothing, and the metric of crash losses says so', async () => {
  await using folder = await testDataDir();
  await using killed = await startTestGateway();
  for (const stream of [false, true]) await (await killed.post(hello({ stream }))).text();
  const before = await killed.settled();
  filesAfterKill(killed, folder.path);

  await using next = await startTestGateway({ dataDir: folder.path, provider: killed.provider });
  expect(await lossOf(next)).toEqual({ calls: 0, usd: 0 });
  expect(await next.view(killed.agent)).toMatchObject({
    chargedNanoUsd: before.chargedNanoUsd,
    lots: before.lots,
    holds: [],
  });
  expect(before.chargedNanoUsd).toBeGreaterThan(0n);
  expect(next.logged).toEqual([]);
});

it('a call that a kill cut off is free for the agent and stands in the metric, until the next start', async () => {
  await using folder = await testDataDir();
  await using later = await testDataDir();
  await using provider = await startTestProvider();
  await using killed = await startTestGateway({ provider });
  provider.next({ gate: 'cut', gateAt: 'headers' });
  const call = killed.post(hello());
  await provider.reached('cut');
  // What is read is on the disk.
  await until(async () => (await killed.view()).holds.length === 1);
  filesAfterKill(killed, folder.path);
  provider.release('cut');
  await (await call).text();

  await using next = await startTestGateway({ dataDir: folder.path, provider });
  // How much the provider billed nobody can tell.
  expect(await lossOf(next)).toEqual({ calls: 1, usd: 0 });
  const view = await next.view(killed.agent);
  expect(view).toMatchObject({ holds: [], chargedNanoUsd: 0n });
  const [record] = await next.calls(killed.agent);
  expect(record).toMatchObject({ outcome: 'failed', errorCode: 'gateway_error', chargedNanoUsd: 0n });
  expect(next.logged).toMatchObject([{ event: 'calls cut off by a crash were ended' }]);

  filesAfterKill(next, later.path);
  await using third = await startTestGateway({ dataDir: later.path, provider });
  expect(await lossOf(third)).toEqual({ calls: 0, usd: 0 });
});

it.each([
  ['', 20],
  [' streamed', 900],
])(
  'a%s call that a kill cut off is free where its provider tells nothing of it',
  async (streamed, gateAt) => {
    await using after = await killedOnceNamed(streamed !== '', { gateAt, lookupMisses: 'always' });
    expect(after.chargedNanoUsd).toBe(0n);
    expect(await after.next.metric('faregate_operator_loss_calls_total', { cause: 'price_unknown' })).toBe(1);
  },
);

it('a failed attempt that another followed is never charged, not even after a kill', async () => {
  await using folder = await testDataDir();
  await using provider = await startTestProvider();
  const clock = createFakeClock();
  await using killed = await startTestGateway({ provider, clock });
  // Long enough for the lease to be renewed, beside what the hold says of the answer by then.
  const renews = async () => {
    for (let i = 0; i < 20; i++) await pass(killed, clock, SECOND_MS);
  };
  // The first has told its answer's id, and breaks inside its body.
  provider.next(
    { gate: 'first', gateAt: 20, cutAt: 21, billUsd: '0.0042' },
    { gate: 'second', gateAt: 'headers' },
  );
  const call = killed.post(hello({ models: ['faregate-sim/large'] }));
  await provider.reached('first');
  await renews();
  provider.release('first');
  await provider.reached('second');
  await renews();
  filesAfterKill(killed, folder.path);
  provider.release('second');
  await (await call).text();

  await using next = await startTestGateway({ dataDir: folder.path, provider, clock });
  expect(await next.view(killed.agent)).toMatchObject({ holds: [], chargedNanoUsd: 0n });
});

it('a call whose answer had begun is no loss: the agent pays what the provider recorded', async () => {
  await using after = await killedOnceNamed(true, { gateAt: 900 });
  expect(after.chargedNanoUsd).toBe(after.provider.lastBill().costNanoUsd);
  expect(await lossOf(after.next)).toEqual({ calls: 0, usd: 0 });
});

it('an image that a kill cut off is free, even when the provider has named its answer', async () => {
  await using folder = await testDataDir();
  await using provider = await startTestProvider();
  const clock = createFakeClock();
  await using killed = await startTestGateway({ provider, clock });
  await killed.running.deps.catalog.refresh();
  // In the middle of the answer, whose id has come.
  provider.next({ path: '/images', gate: 'cut', gateAt: 60 });
  const call = killed.post({ model: 'faregate-sim/paint', prompt: 'a' }, { path: '/images' });
  await provider.reached('cut');
  // Its lease is renewed meanwhile.
  for (let second = 0; second < 20; second++) await pass(killed, clock, SECOND_MS);
  expect((await killed.view()).holds).toHaveLength(1);
  filesAfterKill(killed, folder.path);
  provider.release('cut');
  await (await call).text();

  await using next = await startTestGateway({ dataDir: folder.path, provider, clock });
  expect(await next.view(killed.agent)).toMatchObject({ chargedNanoUsd: 0n, holds: [], runningCalls: 0 });
  expect((await lossOf(next)).calls).toBe(1);
});
