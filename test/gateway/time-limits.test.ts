import { afterEach, describe, expect, it } from 'vitest';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { chargedUsd, hello, startTestGateway, type TestGateway, until } from '../support/gateway.ts';
import { passTime } from '../support/pass-time.ts';
import { sharedCluster } from '../support/shared-cluster.ts';

let gateway: TestGateway;
afterEach(() => gateway.stop());

async function start(machine: { uptimeMs?: number } = {}): Promise<FakeClock> {
  const clock = createFakeClock(undefined, machine);
  gateway = await startTestGateway({ clock });
  return clock;
}

/** What a cluster leaves to a worker, and to the clock of its Redis: see `shard-settlements` and the rules of its protocol. */
const describeEmbedded = sharedCluster() === undefined ? describe : () => undefined;

const pass = (clock: FakeClock, ms: number): Promise<void> => passTime(gateway, clock, ms);

describe('a provider that sends nothing', () => {
  it.each([
    [false, 13],
    [true, 30],
  ])(
    '(stream: %s) is given up after %i minutes with upstream_timeout, free of charge',
    async (stream, minutes) => {
      const clock = await start();
      gateway.provider.next({ stallAt: 'headers' });
      const call = gateway.post(hello({ stream }));
      await until(() => gateway.running.deps.gateway.openCalls.size === 1);
      await pass(clock, minutes * MINUTE_MS - 5 * SECOND_MS);
      expect(gateway.running.deps.gateway.openCalls.size).toBe(1);
      await pass(clock, 6 * SECOND_MS);
      const res = await call;
      // A stream's caller has long had a head, and comments behind it.
      expect(res.status).toBe(stream ? 200 : 504);
      expect(await res.text()).toContain('"code":"upstream_timeout"');
      const view = await gateway.settled();
      expect(view.chargedNanoUsd).toBe(0n);
      expect((await gateway.calls())[0]).toMatchObject({ outcome: 'failed', errorCode: 'upstream_timeout' });
    },
  );

  it('in the middle of a stream: what was written is charged, the error comes as a chunk', async () => {
    const clock = await start();
    gateway.provider.next({ chunks: 5, stallAt: 900, billUsd: '0.0000042' });
    const res = await gateway.post(hello({ stream: true }));
    await pass(clock, 30 * MINUTE_MS + SECOND_MS);
    const text = await res.text();
    expect(text).toContain('"code":"upstream_timeout"');
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    await until(async () => {
      await pass(clock, 10 * SECOND_MS);
      return (await gateway.view()).holds.length === 0;
    });
    expect(chargedUsd(await gateway.view())).toBe('0.0000042');
  });

  it('but comments, does not make the call last longer', async () => {
    const clock = await start();
    gateway.provider.next({ comments: 'forever', gapMs: 1 });
    const call = gateway.post(hello({ stream: true }));
    await until(() => gateway.running.deps.gateway.openCalls.size === 1);
    await pass(clock, 30 * MINUTE_MS + SECOND_MS);
    expect(await (await call).text()).toContain('"code":"upstream_timeout"');
  });
});

describe('a long call', () => {
  it('keeps its slot by renewing it, well past the minute of a lease', async () => {
    const clock = await start();
    gateway.provider.next({ gate: 'long', gateAt: 'headers' });
    const call = gateway.post(hello());
    await gateway.provider.reached('long');
    await pass(clock, 5 * MINUTE_MS);
    expect((await gateway.view()).runningCalls).toBe(1);
    gateway.provider.release('long');
    expect((await call).status).toBe(200);
    await gateway.settled();
  });

  it('keeps the answer’s id for a crash, but never beside a provider that did not give it', async () => {
    const clock = await start();
    const open = async (models: string[]) => {
      gateway.provider.next({ model: models[models.length - 1], chunks: 3, gate: 'kept', gateAt: 500 });
      const [model, ...fallbacks] = models;
      const res = await gateway.post(hello({ model, models: fallbacks, stream: true, max_tokens: 50 }));
      await gateway.provider.reached('kept');
      await pass(clock, 20 * SECOND_MS);
      await until(() => gateway.running.deps.store.lag().events === 0);
      const [hold] = (await gateway.view()).holds;
      gateway.provider.release('kept');
      await res.text();
      await gateway.settled();
      return hold?.generationId;
    };
    expect(await open(['faregate-sim/small'])).toMatch(/^gen-/);
    gateway.provider.reset();
    gateway.provider.next({ model: 'faregate-sim/large', status: 503, error: { code: 503 } });
    expect(await open(['faregate-sim/large', 'faregate-sim/small'])).toBeNull();
  });

  it('that is silent between two events is kept open by our own comments', async () => {
    const clock = await start();
    gateway.provider.next({ chunks: 3, gate: 'silent', gateAt: 500 });
    const res = await gateway.post(hello({ stream: true }));
    await gateway.provider.reached('silent');
    await pass(clock, 40 * SECOND_MS);
    gateway.provider.release('silent');
    const text = await res.text();
    expect(text.match(/^: keep-alive$/gm)?.length).toBeGreaterThanOrEqual(2);
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });
});

describe('a hang-up', () => {
  it('is read on for a minute at most; then the provider’s own record is charged', async () => {
    const clock = await start();
    gateway.provider.next({ chunks: 5, stallAt: 900, billUsd: '0.0000099', hangUpBills: 'delivered' });
    const hangUp = new AbortController();
    const res = await gateway.post(hello({ stream: true }), { signal: hangUp.signal });
    await res.body?.getReader().read();
    hangUp.abort();
    await until(() => gateway.running.deps.gateway.openCalls.usageDrains === 1);
    await pass(clock, 50 * SECOND_MS);
    expect(gateway.running.deps.gateway.openCalls.size).toBe(1);
    await pass(clock, 15 * SECOND_MS);
    await until(() => gateway.running.deps.gateway.openCalls.size === 0);
    await until(async () => {
      await pass(clock, 10 * SECOND_MS);
      return (await gateway.view()).holds.length === 0;
    });
    expect(chargedUsd(await gateway.view())).toBe('0.0000099');
    expect((await gateway.calls())[0]?.outcome).toBe('stopped');
  });
});

describeEmbedded('a cost that the provider never tells', () => {
  it('is looked up for ten minutes, then priced from what is known, and the hold ends', async () => {
    const clock = await start();
    gateway.provider.next({ usageAt: 'missing', lookupMisses: 'always', text: 'x'.repeat(400) });
    const res = await gateway.post(hello({ stream: true }));
    await res.text();
    await until(async () => (await gateway.view()).holds.some((hold) => hold.pending !== null));
    expect((await gateway.calls())[0]?.outcome).toBe('pending');
    for (let minute = 0; minute < 9; minute++) await pass(clock, MINUTE_MS);
    expect((await gateway.view()).holds).toHaveLength(1);
    await until(async () => {
      await pass(clock, MINUTE_MS);
      return (await gateway.view()).holds.length === 0;
    });
    expect((await gateway.view()).chargedNanoUsd).toBeGreaterThan(0n);
    expect((await gateway.calls())[0]?.outcome).toBe('ok');
  });
});

describeEmbedded(
  'a call that fails before its answer began, and of which the provider never tells a cost',
  () => {
    it.each([false, true])('is free, whether its caller had left (%s) or waited', async (left) => {
      const clock = await start();
      gateway.provider.next({
        status: 502,
        error: { code: 502 },
        headers: { 'x-generation-id': 'gen-1790000000-a1B2c3D4e5F6g7H8i9J0' },
        gate: 'fails',
        gateAt: 'headers',
        lookupMisses: 'always',
        billUsd: '0',
        usageFields: { cost: '0' },
      });
      const hangUp = new AbortController();
      const call = gateway.post(hello(), { signal: hangUp.signal }).catch(() => null);
      await gateway.provider.reached('fails');
      if (left) {
        hangUp.abort();
        await until(async () => (await gateway.metric('faregate_usage_drains')) === 1);
      }
      gateway.provider.release('fails');
      await call;
      await until(async () => {
        await pass(clock, 10 * SECOND_MS);
        return (await gateway.view()).holds.length === 0;
      });
      expect((await gateway.view()).chargedNanoUsd).toBe(0n);
    });
  },
);

describeEmbedded('a step of the machine’s clock', () => {
  it('that is taken back within minutes ends no credit', async () => {
    const clock = await start();
    // The ledger is swept at each full hour.
    await pass(clock, 58 * MINUTE_MS);
    clock.set(clock.now() + 9 * DAY_MS);
    await pass(clock, 3 * MINUTE_MS);
    expect((await gateway.post(hello())).status).toBe(200);
    clock.set(clock.now() - 9 * DAY_MS);
    await pass(clock, 3 * SECOND_MS);
    expect((await gateway.settled()).expiredNanoUsd).toBe(0n);
    expect((await gateway.post(hello())).status).toBe(200);
  });

  it('that lasts, as after a sleep, takes no running call for one that nobody runs', async () => {
    const clock = await start();
    await pass(clock, 50 * MINUTE_MS);
    gateway.provider.next({ chunks: 5, gate: 'asleep', gateAt: 900 });
    const call = await gateway.post(hello({ stream: true, stream_options: { include_usage: true } }));
    await gateway.provider.reached('asleep');
    clock.set(clock.now() + 40 * MINUTE_MS);
    await pass(clock, 26 * MINUTE_MS);
    expect((await gateway.view()).holds).toHaveLength(1);
    gateway.provider.release('asleep');
    const shown = /"cost":([\d.]+)/.exec(await call.text())?.[1];
    expect(shown).toBe(chargedUsd(await gateway.settled()));
    expect(Number(shown)).toBeGreaterThan(0);
  });
});

describeEmbedded('a machine that starts with the wrong time', () => {
  it('ends no credit by it', async () => {
    const clock = await start({ uptimeMs: 0 });
    clock.set(clock.now() + 9 * DAY_MS);
    await pass(clock, 4 * MINUTE_MS);
    clock.set(clock.now() - 9 * DAY_MS);
    await pass(clock, 4 * MINUTE_MS);
    expect((await gateway.view()).expiredNanoUsd).toBe(0n);
    expect((await gateway.post(hello())).status).toBe(200);
  });

  it('says so while no call can start for it, once a minute', async () => {
    const clock = await start({ uptimeMs: 0 });
    clock.set(clock.now() - DAY_MS);
    for (let i = 0; i < 3; i++) expect((await gateway.post(hello())).status).toBe(503);
    expect(gateway.logged.map(({ event }) => event)).toEqual([
      'the clock of this machine is behind the journal: until it has caught up no call starts, see faregate clock',
    ]);
    clock.set(clock.now() + DAY_MS);
    expect((await gateway.post(hello())).status).toBe(200);
  });
});

describeEmbedded('credit', () => {
  it('ends at its midnight, and only what was held by then lives on until its call ends', async () => {
    const clock = await start();
    gateway.provider.next({ gate: 'midnight', gateAt: 'headers' });
    const lot = (await gateway.view()).lots[0];
    clock.sleep((lot?.expiresAtMs ?? 0) - 10 * MINUTE_MS - clock.now());
    await pass(clock, 9 * MINUTE_MS);
    const call = gateway.post(hello());
    await gateway.provider.reached('midnight');
    await pass(clock, 2 * MINUTE_MS);
    expect(await gateway.balance()).toMatchObject({ spendable_usd: '0', expiring: [] });
    gateway.provider.release('midnight');
    expect((await call).status).toBe(200);
    const view = await gateway.settled();
    expect(view.chargedNanoUsd).toBe(gateway.provider.lastBill().costNanoUsd);
    await until(async () => {
      await pass(clock, 61 * MINUTE_MS);
      const { grantedNanoUsd, chargedNanoUsd, expiredNanoUsd } = await gateway.view();
      return grantedNanoUsd === chargedNanoUsd + expiredNanoUsd;
    });
  });
});
