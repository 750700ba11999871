import { expect, it } from 'vitest';
import { JOURNAL_RETRY_MS } from '#core/ledger/embedded/journal-recovery.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { hello, startTestGateway, until } from '../support/gateway.ts';
import { withJournalThread } from '../support/journal-thread.ts';

it('a gateway whose journal fails is not ready and starts no call, until the journal is open again', async () => {
  const clock = createFakeClock();
  const [started, thread] = await withJournalThread(() => startTestGateway({ clock }));
  await using gateway = started;
  const { internalUrl, deps } = gateway.running;
  const probe = async (path: string) => {
    const res = await fetch(internalUrl + path);
    return { status: res.status, body: await res.json() };
  };
  const ready = { status: 200, body: { status: 'ready' } };
  expect(await probe('/readyz')).toEqual(ready);
  expect(await gateway.metric('faregate_ledger_open')).toBe(1);

  await thread.terminate();
  await until(() => !deps.store.isReady());
  const notReady = { status: 'not ready', failing: ['ledger'] };
  expect(await probe('/readyz')).toEqual({ status: 503, body: notReady });
  expect(await probe('/livez')).toMatchObject({ status: 200 });
  expect(await gateway.metric('faregate_ledger_open')).toBe(0);
  expect((await gateway.post(hello())).status).toBe(503);

  await until(() => {
    clock.advance(JOURNAL_RETRY_MS);
    return deps.store.isReady();
  });
  expect(await probe('/readyz')).toEqual(ready);
  expect(await gateway.metric('faregate_ledger_open')).toBe(1);
  expect((await gateway.post(hello())).status).toBe(200);
});
