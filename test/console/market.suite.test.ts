import { expect, it } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { createGatewayClient } from '../../api/admin/cli/gateway-client.ts';
import type { MarketTurn } from '../../api/admin/cli/market/market-turn.ts';
import { simulateMarket } from '../../api/admin/cli/market/simulate-market.ts';
import { MarketStateList } from '../../api/admin/schemas/market-state.ts';
import { until } from '../support/gateway.ts';
import type { ConsolePage } from './console-page.ts';
import { describeInBrowser, sees } from './in-browser.ts';

describeInBrowser('a market that `faregate market simulate` lets trade', ({ gateway, show }) => {
  const admin = () => {
    const { internalUrl, adminToken: token } = gateway().running;
    return createGatewayClient({ url: `${internalUrl}/admin`, token }, 'test');
  };

  it('lives on the page, with a history from its first second, and moves real credit', async () => {
    const turns: MarketTurn[] = [];
    const ending = new AbortController();
    const running = simulateMarket({
      ...{ client: admin(), clock: systemClock, seed: 1, tradesPerSecond: 10, changesPerSecond: 40 },
      signal: ending.signal,
      tell: (turn) => turns.push(turn),
    });
    // It trades until the page has shown what it shows, however long a busy machine takes for that.
    const looked = show({ agent: gateway().agent }).then(isShown).then(bothHaveTraded);
    // Whichever fails first fails the test, and the failure of the other is nobody's news.
    const ended = Promise.allSettled([running, looked]);
    try {
      await Promise.race([running, looked]);
    } finally {
      ending.abort();
      // It must not outlive the gateway that it feeds.
      await ended;
    }
    await running;
    expect(turns.flatMap(({ reasons }) => reasons)).toEqual([]);
    const { value } = await admin().get(MarketStateList, '/markets');
    expect(value.markets).toHaveLength(1);
    const trades = turns.reduce((sum, turn) => sum + turn.trades, 0);
    expect(value.markets[0]).toMatchObject({
      ...{ open: true, newest: true, trade_seq: trades, last_price: turns.at(-1)?.price },
    });
  });

  async function isShown(console: ConsolePage): Promise<void> {
    await console.open('market');
    await sees(console, 'Spread');
    await sees(console, 'Fresh credit 0.9900');
    const { page } = console;
    const change = async () => /Change ([\d,]+)/.exec(await page.locator('.book-foot').innerText())?.[1];
    const first = await change();
    await until(async () => (await change()) !== first, PATIENCE_MS);
    await page.getByText('Candles in words').click();
    // The day began a while ago, or the market is as old as the day.
    await until(async () => (await page.locator('.candles tbody tr').count()) > 0, PATIENCE_MS);
  }

  const bothHaveTraded = () => until(haveBothTraded, PATIENCE_MS);

  async function haveBothTraded(): Promise<boolean> {
    const { ledger } = gateway().running.deps.store;
    const agents = await ledger.listAgents();
    if (agents === 'unavailable') throw new Error('the ledger does not answer');
    const traders = agents.filter(({ name }) => name.startsWith('Market demo'));
    const views = await Promise.all(traders.map(({ agentId }) => ledger.readAgent(agentId)));
    return (
      views.length === 2 &&
      views.every((view) => view !== null && view !== 'unavailable' && view.movedInNanoUsd > 0n)
    );
  }
});

/** Ends a wait that would never end. */
const PATIENCE_MS = 60_000;
