import { describe, expect, it } from 'vitest';
import type { UsageRange, UsageRow } from '#core/calls/call-history.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS, startOfDayMs } from '#core/clock.ts';
import { readUsage } from '../../api/account/read-account.ts';
import { shapeUsage } from '../../api/contract/usage-record.ts';
import { recordOf } from '../mcp/mcp-calls.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { hello, startTestGateway, until } from '../support/gateway.ts';
import { passTime } from '../support/pass-time.ts';
import { sharedCluster } from '../support/shared-cluster.ts';

const row = (day: string, model: string, usd: bigint, calls = 1): UsageRow => ({
  day,
  model,
  modelName: model.toUpperCase(),
  calls,
  tokens: 10 * calls,
  chargedNanoUsd: usd,
});

describe('usage', () => {
  const range = { fromDay: '2026-11-16', toDay: '2026-11-18' };

  it('is summed up by day and by model, highest spend first, with the name that a model had last', () => {
    const renamed = { ...row('2026-11-18', 'b', 5n), modelName: 'B 2' };
    expect(shapeUsage(range, [row('2026-11-16', 'a', 7n), row('2026-11-16', 'b', 1n, 2), renamed])).toEqual({
      from: '2026-11-16',
      to: '2026-11-18',
      total: { usd: '0.000000013', calls: 4, tokens: 40 },
      days: [
        { day: '2026-11-16', usd: '0.000000008', calls: 3, tokens: 30 },
        { day: '2026-11-18', usd: '0.000000005', calls: 1, tokens: 10 },
      ],
      models: [
        { model: 'a', name: 'A', usd: '0.000000007', calls: 1, tokens: 10 },
        { model: 'b', name: 'B 2', usd: '0.000000006', calls: 3, tokens: 30 },
      ],
    });
  });

  it('is in the same order each time where two models cost alike', () => {
    const rows = [row('2026-11-16', 'c', 1n), row('2026-11-16', 'a', 1n), row('2026-11-16', 'b', 1n, 2)];
    expect(shapeUsage(range, rows).models.map(({ model }) => model)).toEqual(['b', 'a', 'c']);
    expect(shapeUsage(range, rows.toReversed()).models.map(({ model }) => model)).toEqual(['b', 'a', 'c']);
  });

  it('of nothing is nothing', () => {
    const nothing = { usd: '0', calls: 0, tokens: 0 };
    expect(shapeUsage(range, [])).toEqual({
      from: range.fromDay,
      to: range.toDay,
      total: nothing,
      days: [],
      models: [],
    });
  });

  it.each([
    [1, '2026-11-18'],
    [7, '2026-11-12'],
    [90, '2026-08-21'],
  ])('of %i days begins with %s, today included', async (days, fromDay) => {
    const asked: UsageRange[] = [];
    const history = {
      async usage(of: UsageRange) {
        asked.push(of);
        return [];
      },
    };
    const clock = createFakeClock(Date.UTC(2026, 10, 18, 23, 59, 59, 999));
    expect(await readUsage({ history, clock }, { agentId: 4, days })).toMatchObject({
      from: fromDay,
      to: '2026-11-18',
    });
    expect(asked).toEqual([{ agentId: 4, fromDay, toDay: '2026-11-18' }]);
    clock.advance(1);
    expect(await readUsage({ history, clock }, { agentId: 4, days: 1 })).toMatchObject({
      from: '2026-11-19',
    });
  });
});

/** A cluster's clock is that of its Redis, which nobody sets; its history has the same promises in `call-history-contract`. */
const describeEmbedded = sharedCluster() === undefined ? describe : () => undefined;

describeEmbedded('over midnight', () => {
  it('a call counts on the day on which it started, once its late price is known', async () => {
    const clock = createFakeClock();
    const midnightMs = startOfDayMs(clock.now()) + DAY_MS;
    clock.set(midnightMs - 30 * SECOND_MS);
    await using gateway = await startTestGateway({ clock });
    const access = { mcpUrl: gateway.running.mcpUrl, key: gateway.agent.key };
    gateway.provider.next({ usageAt: 'missing', lookupMisses: 1, billUsd: '0.00001234' });
    expect((await gateway.post(hello({ stream: true }))).status).toBe(200);
    await until(async () => (await gateway.view()).holds.some(({ pending }) => pending !== null));
    const dayOf = (atMs: number) => new Date(atMs).toISOString().slice(0, 10);
    const [yesterday, today] = [dayOf(midnightMs - 1), dayOf(midnightMs)];
    const pending = await recordOf(access, 'list_calls');
    expect(pending.calls).toMatchObject([{ outcome: 'pending', charge_usd: '0' }]);
    expect((await recordOf(access, 'get_usage', { days: 1 })).total.calls).toBe(0);

    await until(async () => {
      await passTime(gateway, clock, 10 * SECOND_MS);
      return (await gateway.view()).holds.length === 0;
    });
    await passTime(gateway, clock, MINUTE_MS);
    expect(clock.now()).toBeGreaterThan(midnightMs);
    const usage = await recordOf(access, 'get_usage', { days: 2 });
    expect(usage).toMatchObject({ from: yesterday, to: today, total: { usd: '0.00001234', calls: 1 } });
    expect(usage.days).toMatchObject([{ day: yesterday, usd: '0.00001234', calls: 1 }]);
    expect((await recordOf(access, 'get_usage', { days: 1 })).days).toEqual([]);
    expect((await recordOf(access, 'list_calls')).calls).toMatchObject([
      { outcome: 'ok', charge_usd: '0.00001234' },
    ]);
  });
});
