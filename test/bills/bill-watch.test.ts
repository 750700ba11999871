import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { BillWatch } from '#core/bills/bill-watch.ts';
import { openFileBillStore } from '#core/bills/file-bill-store.ts';
import { observeBills } from '#core/bills/observe-bills.ts';
import { RECORDED_COSTS_MS, RecordedCosts } from '#core/bills/recorded-costs.ts';
import type { Provider } from '#core/catalog/catalog.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { dialects } from '../../api/providers/openai/dialects.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { testDataDir } from '../support/data-dir.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { until } from '../support/gateway.ts';

const provider = (id: string, more: Partial<Provider> = {}): Provider => ({
  id,
  kind: providerKinds.openrouter,
  formats: ['chat'],
  dialect: dialects.other,
  cancel: 'stops_billing',
  baseUrl: `http://${id}.test`,
  apiKey: `key of ${id}`,
  settings: {},
  priceFactorPpm: 1_000_000n,
  stopped: false,
  ...more,
});

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

/** 10:00 UTC; the first look is five minutes later. */
async function startWorld(providers = [provider('p')]) {
  const folder = await testDataDir();
  stops.push(() => folder[Symbol.asyncDispose]());
  const clock = createFakeClock();
  const asked: string[] = [];
  const pages = new Map<string, unknown>();
  const logged: string[] = [];
  const note = (event: string, fields?: object): void =>
    void logged.push(`${event} ${JSON.stringify(fields)}`);
  const log = { info: note, warn: note, error: note };
  const bill = (id: string, usd: number | string): void =>
    void pages.set(`http://${id}.test`, { data: { usage: usd } });

  function startProcess() {
    const store = openFileBillStore(folder.path);
    const costs = new RecordedCosts({ store, clock, log });
    const watch = new BillWatch({
      store,
      costs,
      providers: () => providers,
      async fetchJson({ baseUrl }, path) {
        asked.push(baseUrl + path);
        const page = pages.get(baseUrl);
        if (page === undefined) throw new Error('No whole answer within 15 s.');
        return page;
      },
      clock,
      log,
    });
    const stop = async (): Promise<void> => {
      watch.stop();
      await costs.stop();
    };
    stops.push(stop);
    return { store, costs, watch, stop };
  }

  /** Moves on, and waits until the look that falls due on the way is over. */
  async function pass(ms: number): Promise<void> {
    const before = logged.length;
    clock.advance(ms);
    await until(() => logged.length > before && clock.pendingTimers() > 0);
  }

  return { clock, bill, pages, asked, logged, startProcess, pass };
}

const toMidnightLook = 14 * HOUR_MS + 10 * MINUTE_MS;

describe('once a day', () => {
  it('what a provider billed is compared with what its calls say, from the first look on', async () => {
    const { bill, startProcess, pass, asked, logged } = await startWorld();
    const { costs, watch } = startProcess();
    bill('p', 100.5);
    costs.note('p', 1_000_000_000n, 1_000_000n);
    await pass(5 * MINUTE_MS);
    expect(watch.found().size).toBe(0);
    expect(asked).toEqual(['http://p.test/key']);

    bill('p', 103.75);
    costs.note('p', 3_000_000_000n, 1_000_000n);
    await pass(toMidnightLook);
    expect([...watch.found().values()]).toEqual([
      expect.objectContaining({ billedNanoUsd: 3_250_000_000n, recordedNanoUsd: 3_000_000_000n }),
    ]);
    expect(logged.at(-1)).toBe(
      'a provider\'s bill was compared with what its calls say {"usd":"0.25","cause":"billed 3.25, recorded 3"}',
    );

    bill('p', 104);
    costs.note('p', 500_000_000n, 1_000_000n);
    await pass(DAY_MS);
    expect([...watch.found().values()]).toEqual([
      expect.objectContaining({ billedNanoUsd: 250_000_000n, recordedNanoUsd: 500_000_000n }),
    ]);
    expect(asked).toHaveLength(3);
    expect(logged).toHaveLength(3);
  });

  it('is metrics, by provider', async () => {
    const { bill, startProcess, pass } = await startWorld();
    const { costs, watch } = startProcess();
    const registry = new Registry();
    observeBills(registry, watch);
    bill('p', 1);
    await pass(5 * MINUTE_MS);
    expect(await registry.metrics()).not.toContain('provider="p"');
    bill('p', 1.5);
    costs.note('p', 400_000_000n, 1_000_000n);
    await pass(toMidnightLook);
    const text = await registry.metrics();
    expect(text).toContain('faregate_provider_billed_usd{provider="p"} 0.5\n');
    expect(text).toContain('faregate_provider_recorded_usd{provider="p"} 0.4\n');
    expect(text).toContain('faregate_provider_bill_difference_usd{provider="p"} 0.1\n');
    const at = Date.UTC(2026, 10, 19, 0, 15) / 1_000;
    expect(text).toContain(`faregate_provider_bill_compared_seconds{provider="p"} ${at}\n`);
  });

  it('a restart changes nothing, and a second process of the same day only takes over what was found', async () => {
    const { bill, startProcess, pass, clock, asked } = await startWorld();
    const first = startProcess();
    bill('p', 10);
    await pass(5 * MINUTE_MS);
    first.costs.note('p', 2_000_000_000n, 1_000_000n);
    await first.stop();

    bill('p', 12);
    const second = startProcess();
    await pass(toMidnightLook);
    const found = [...second.watch.found().values()];
    expect(found).toEqual([
      expect.objectContaining({ billedNanoUsd: 2_000_000_000n, recordedNanoUsd: 2_000_000_000n }),
    ]);
    await second.stop();
    const third = startProcess();
    clock.advance(5 * MINUTE_MS);
    await until(() => third.watch.found().size > 0);
    expect([...third.watch.found().values()]).toEqual(found);
    expect(asked).toHaveLength(2);
  });

  it('a bill that cannot be read is asked for again after half an hour, until it can', async () => {
    const { pages, bill, startProcess, pass, asked, logged } = await startWorld();
    startProcess();
    await pass(5 * MINUTE_MS);
    expect(logged.at(-1)).toContain('No whole answer within 15 s.');
    const wrong = [
      null,
      'x',
      {},
      { data: {} },
      { data: { usage: '1' } },
      { data: { usage: -1 } },
      { data: { usage: 1e300 } },
    ];
    for (const page of wrong) {
      pages.set('http://p.test', page);
      await pass(30 * MINUTE_MS);
      expect(logged.at(-1)).toContain("The provider's bill cannot be read.");
    }
    bill('p', 7);
    await pass(30 * MINUTE_MS);
    expect(logged.at(-1)).toContain('is compared from now on');
    expect(asked).toHaveLength(wrong.length + 2);
  });

  it('a bill that went back is another key’s: it is compared from then on', async () => {
    const { bill, startProcess, pass, logged } = await startWorld();
    const { watch } = startProcess();
    bill('p', 10);
    await pass(5 * MINUTE_MS);
    bill('p', 1);
    await pass(toMidnightLook);
    expect(watch.found().size).toBe(0);
    expect(logged.at(-1)).toContain('is compared from now on');
    bill('p', 3);
    await pass(DAY_MS);
    expect([...watch.found().values()]).toEqual([expect.objectContaining({ billedNanoUsd: 2_000_000_000n })]);
  });
});

describe('which bills', () => {
  it('are those of providers that can be asked; who shares an address and a key shares a bill', async () => {
    const { bill, pages, startProcess, asked } = await startWorld([
      provider('vllm', { kind: providerKinds.openai }),
      provider('claude', { kind: providerKinds.anthropic }),
      provider('z', { baseUrl: 'http://router.test', apiKey: 'one' }),
      provider('a', { baseUrl: 'http://router.test', apiKey: 'one', kind: providerKinds.openai }),
      provider('other', { baseUrl: 'http://router.test', apiKey: 'two' }),
      provider('off', { stopped: true }),
    ]);
    const { watch } = startProcess();
    bill('router', 1);
    pages.set('http://router.test', { data: { usage: 1 } });
    const readings = await watch.readNow();
    expect(readings.map(({ account }) => account.name)).toEqual(['a z', 'other']);
    expect(asked).toEqual(['http://router.test/key', 'http://router.test/key']);
  });

  it('what the operator’s own keys were billed behind a router counts, as it does in a call', async () => {
    const { pages, startProcess, pass } = await startWorld();
    const { watch } = startProcess();
    pages.set('http://p.test', { data: { usage: 1, byok_usage: 5 } });
    await pass(5 * MINUTE_MS);
    pages.set('http://p.test', { data: { usage: 2, byok_usage: 7.5 } });
    const [reading] = await watch.readNow();
    expect(reading?.comparison?.billedNanoUsd).toBe(3_500_000_000n);
  });

  it('one that cannot be read keeps nobody from reading the others', async () => {
    const { bill, startProcess } = await startWorld([provider('p'), provider('q')]);
    const { watch } = startProcess();
    bill('q', 1);
    expect((await watch.readNow()).map(({ problem }) => problem)).toEqual([
      'No whole answer within 15 s.',
      null,
    ]);
  });
});

describe('what calls say', () => {
  it('is stored every ten seconds, without the operator’s margin, and again when it could not be', async () => {
    const { startProcess, clock } = await startWorld();
    const { store, costs, watch } = startProcess();
    watch.stop();
    const account = { name: 'p', providerIds: ['p'] };
    costs.note('p', 0n, 1_000_000n);
    expect(clock.pendingTimers()).toBe(0);
    costs.note('p', 1_055_000_000n, 1_055_000n);
    const { add } = store;
    store.add = () => Promise.reject(new Error('away'));
    await costs.flush();
    expect((await store.read(account)).recordedNanoUsd).toBe(0n);
    store.add = add;
    costs.note('p', 5n, 1_000_000n);
    clock.advance(RECORDED_COSTS_MS);
    await until(async () => (await store.read(account)).recordedNanoUsd === 1_000_000_005n);
    expect(clock.pendingTimers()).toBe(0);
  });
});
