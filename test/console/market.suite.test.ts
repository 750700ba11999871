import { expect, it } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { createGatewayClient } from '../../api/admin/cli/gateway-client.ts';
import type { MarketTurn } from '../../api/admin/cli/market/market-turn.ts';
import { simulateMarket } from '../../api/admin/cli/market/simulate-market.ts';
import { MarketStateList } from '../../api/admin/schemas/market-state.ts';
import { until } from '../support/gateway.ts';
import { describeInBrowser, sees } from './in-browser.ts';

describeInBrowser('a market that `faregate market simulate` lets trade', ({ gateway, show }) => {
  const admin = () => {
    const { internalUrl, adminToken: token } = gateway().running;
    return createGatewayClient({ url: `${internalUrl}/admin`, token }, 'test');
  };

  it('lives on the page, with a history from its first second, and moves real credit', async () => {
    const turns: MarketTurn[] = [];
    const running = simulateMarket({
      ...{
        client: admin(),
        clock: systemClock,
        seed: 1,
        tradesPerSecond: 10,
        changesPerSecond: 40,
        forSeconds: 12,
      },
      tell: (turn) => turns.push(turn),
    });
    const console = await show({ agent: gateway().agent });
    await console.open('market');
    await sees(console, 'Spread');
    await sees(console, 'Fresh credit 0.9900');
    const { page } = console;
    const change = async () => /Change ([\d,]+)/.exec(await page.locator('.book-foot').innerText())?.[1];
    const first = await change();
    await until(async () => (await change()) !== first);
    await page.getByText('Candles in words').click();
    // The day began a while ago, or the market is as old as the day.
    expect(await page.locator('.candles tbody tr').count()).toBeGreaterThan(0);

    await running;
    expect(turns.length).toBeGreaterThan(5);
    expect(turns.flatMap(({ reasons }) => reasons)).toEqual([]);
    const { value } = await admin().get(MarketStateList, '/markets');
    expect(value.markets).toHaveLength(1);
    const trades = turns.reduce((sum, turn) => sum + turn.trades, 0);
    expect(value.markets[0]).toMatchObject({
      ...{ open: true, newest: true, trade_seq: trades, last_price: turns.at(-1)?.price },
    });
    const { ledger } = gateway().running.deps.store;
    const agents = await ledger.listAgents();
    if (agents === 'unavailable') throw new Error('the ledger does not answer');
    const ids = agents.filter(({ name }) => name.startsWith('Market demo')).map(({ agentId }) => agentId);
    expect(ids).toHaveLength(2);
    for (const agentId of ids) {
      const view = await ledger.readAgent(agentId);
      if (view === null || view === 'unavailable') throw new Error('no agent');
      expect(view.movedInNanoUsd).toBeGreaterThan(0n);
    }
  });
});
