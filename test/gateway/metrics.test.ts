import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SECOND_MS } from '#core/clock.ts';
import { defaultLimits } from '#core/limits.ts';
import { LOSS_CAUSES } from '#core/operator-losses.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { hello, startTestGateway, type TestGateway, until } from '../support/gateway.ts';
import { holdJournal, withJournalThread } from '../support/journal-thread.ts';

let clock: FakeClock;
let gateway: TestGateway;
let thread: Worker;
beforeEach(async () => {
  clock = createFakeClock();
  [gateway, thread] = await withJournalThread(() => startTestGateway({ clock }));
});
afterEach(() => gateway.stop());

/** Our own samples as /metrics prints them, by name and labels. */
async function scrape(): Promise<Record<string, number>> {
  const res = await fetch(`${gateway.running.internalUrl}/metrics`);
  const samples = (await res.text()).matchAll(/^(faregate_\S+) (\S+)$/gm);
  return Object.fromEntries(Array.from(samples, ([, name, value]) => [name, Number(value)]));
}

const shows = (name: string, value: number) => until(async () => (await scrape())[name] === value);

/** Dollars are floats here. */
const dollars = (nanoUsd: bigint) => expect.closeTo(Number(nanoUsd) / 1e9, 9);

async function heldNanoUsd(): Promise<bigint> {
  const { holds } = await gateway.view();
  return holds.reduce((sum, hold) => sum + hold.nanoUsd, 0n);
}

describe('the operator’s metrics show', () => {
  it('calls and streams while they run, and what they held and were charged when they have ended', async () => {
    gateway.provider.next({ gate: 'both' }, { gate: 'both' });
    const calls = [gateway.post(hello()), gateway.post(hello({ stream: true }))];
    await until(() => gateway.provider.waitingAt('both') === 2);
    const held = await heldNanoUsd();
    expect(held).toBeGreaterThan(0n);
    expect(await scrape()).toMatchObject({
      faregate_calls_started_total: 2,
      faregate_open_calls: 2,
      faregate_open_streams: 1,
      faregate_capacity_held_usd: dollars(held),
      faregate_held_usd_total: 0,
      faregate_charged_usd_total: 0,
    });

    gateway.provider.release('both');
    for (const call of calls) await (await call).text();
    await shows('faregate_open_calls', 0);
    const { chargedNanoUsd } = await gateway.settled();
    expect(chargedNanoUsd).toBeGreaterThan(0n);
    expect(await scrape()).toMatchObject({
      faregate_calls_started_total: 2,
      'faregate_calls_ended_total{outcome="ok",code=""}': 2,
      faregate_open_streams: 0,
      faregate_capacity_held_usd: 0,
      faregate_held_usd_total: dollars(held),
      faregate_charged_usd_total: dollars(chargedNanoUsd),
    });
  });

  it('every cause of a loss before there is one, so that an alert sees the first', async () => {
    const samples = await scrape();
    for (const cause of LOSS_CAUSES) {
      expect(samples[`faregate_operator_loss_usd_total{cause="${cause}"}`]).toBe(0);
      expect(samples[`faregate_operator_loss_calls_total{cause="${cause}"}`]).toBe(0);
    }
  });

  it('failed calls by their error', async () => {
    gateway.provider.next({ status: 503, error: { code: 503 } });
    await (await gateway.post(hello())).text();
    expect(await scrape()).toMatchObject({
      'faregate_calls_ended_total{outcome="failed",code="model_busy"}': 1,
      faregate_charged_usd_total: 0,
    });
  });

  it('refusals by their code, those before a body is read included, and no call for them', async () => {
    const broke = await gateway.newAgent({ creditUsd: '0' });
    for (let start = 0; start < defaultLimits.burst + 2; start++) {
      await (await gateway.post(hello(), { agent: broke })).text();
    }
    expect(await scrape()).toMatchObject({
      'faregate_calls_refused_total{code="insufficient_balance"}': defaultLimits.burst,
      'faregate_calls_refused_total{code="rate_limited"}': 2,
      faregate_calls_started_total: 0,
    });
  });

  it('the time to the first byte that we added, apart from the provider’s', async () => {
    const release = holdJournal(thread);
    gateway.provider.next({ gate: 'slow' });
    const call = gateway.post(hello({ stream: true }));
    await gateway.provider.reached('slow');
    clock.advance(200);
    gateway.provider.release('slow');
    await shows('faregate_provider_first_byte_ms_count', 1);
    clock.advance(30);
    release();
    await (await call).text();
    expect(await scrape()).toMatchObject({
      faregate_provider_first_byte_ms_sum: 200,
      'faregate_provider_first_byte_ms_bucket{le="100"}': 0,
      'faregate_provider_first_byte_ms_bucket{le="250"}': 1,
      faregate_added_latency_ms_count: 1,
      faregate_added_latency_ms_sum: 30,
    });
  });

  it('how far the journal is behind, and the calls whose end it has not confirmed', async () => {
    gateway.provider.next({ gate: 'end' });
    const call = gateway.post(hello());
    await gateway.provider.reached('end');
    await shows('faregate_journal_lag_events', 0);
    const { faregate_journal_commit_ms_count: commits = 0 } = await scrape();
    const release = holdJournal(thread);
    gateway.provider.release('end');
    await shows('faregate_unconfirmed_settlements', 1);
    clock.advance(120);
    expect(await scrape()).toMatchObject({
      faregate_journal_lag_events: 1,
      faregate_journal_lag_ms: 120,
      faregate_journal_commit_ms_count: commits,
    });

    release();
    await (await call).text();
    await shows('faregate_unconfirmed_settlements', 0);
    expect(await scrape()).toMatchObject({
      faregate_journal_lag_events: 0,
      faregate_journal_lag_ms: 0,
      faregate_journal_commit_ms_count: commits + 1,
    });
  });

  it('calls that wait for their price, then what they were charged', async () => {
    gateway.provider.next({ usageAt: 'missing', lookupMisses: 1 });
    await (await gateway.post(hello({ stream: true }))).text();
    await shows('faregate_pending_prices', 1);
    expect(await scrape()).toMatchObject({
      'faregate_calls_ended_total{outcome="pending",code=""}': 1,
      faregate_charged_usd_total: 0,
    });

    await until(async () => {
      clock.advance(SECOND_MS);
      return (await scrape()).faregate_pending_prices === 0;
    });
    const { chargedNanoUsd } = await gateway.settled();
    expect(chargedNanoUsd).toBe(gateway.provider.lastBill().costNanoUsd);
    expect(await scrape()).toMatchObject({ faregate_charged_usd_total: dollars(chargedNanoUsd) });
  });

  it('what the operator lost, by its cause', async () => {
    const billedError = '{"error":{"code":429,"message":"no"},"usage":{"cost":0.25}}';
    gateway.provider.next({ body: billedError }, { usageFields: { cost: '2.5' } });
    gateway.provider.next({ usageAt: 'missing', billUsd: '1.5' });
    for (const stream of [false, false, true]) await (await gateway.post(hello({ stream }))).text();
    await until(async () => {
      clock.advance(SECOND_MS);
      return (await gateway.view()).holds.length === 0;
    });
    const { chargedNanoUsd } = await gateway.view();
    await shows('faregate_operator_loss_calls_total{cause="cost_above_hold"}', 2);
    expect(await scrape()).toMatchObject({
      'faregate_operator_loss_calls_total{cause="free_failure"}': 1,
      'faregate_operator_loss_usd_total{cause="free_failure"}': 0.25,
      'faregate_operator_loss_usd_total{cause="cost_above_hold"}': dollars(4_000_000_000n - chargedNanoUsd),
    });
  });
});
