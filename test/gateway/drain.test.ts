import { expect, it } from 'vitest';
import { testDataDir } from '../support/data-dir.ts';
import { hello, startTestGateway, until } from '../support/gateway.ts';
import { startTestProvider } from '../support/provider.ts';

it('a drain waits for what is read on after a hang-up, so that the operator is paid for it', async () => {
  await using folder = await testDataDir();
  await using provider = await startTestProvider();
  const gateway = await startTestGateway({ dataDir: folder.path, provider });
  provider.next({ gate: 'drain', gateAt: 'headers' });
  const hangUp = new AbortController();
  const call = gateway.post(hello(), { signal: hangUp.signal }).catch(() => null);
  await provider.reached('drain');
  hangUp.abort();
  await call;
  await until(() => gateway.running.deps.gateway.openCalls.usageDrains === 1);
  const drained = gateway.running.drain();
  provider.release('drain');
  await drained;
  // A second wish changes nothing.
  await gateway.running.drain();
  await gateway.running.stop();

  await using next = await startTestGateway({ dataDir: folder.path, provider });
  const view = await next.view(gateway.agent);
  expect(view.holds).toEqual([]);
  expect(view.chargedNanoUsd).toBe(provider.lastBill().costNanoUsd);
  expect(view.chargedNanoUsd).toBeGreaterThan(0n);
});
