import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS, startOfDayMs, systemClock } from '#core/clock.ts';
import { until } from '../support/gateway.ts';
import { type ConsoleOptions, type ConsolePage, desktop, phone } from './console-page.ts';
import { type FakeMarket, fakeMarket, refuse } from './fake-market.ts';
import { describeInBrowser, sees } from './in-browser.ts';

/** What a gateway may answer of markets, and what a person then reads; `market.suite.test.ts` tries it with a real one. */
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const STOPPED = refuse(503, 'service_unavailable', 'Market data is briefly unavailable.', {
  'retry-after': '2',
});

describeInBrowser('the page of the market', ({ show }) => {
  interface Options extends ConsoleOptions {
    names?: string[];
    playedMs?: number;
    instead?: [string, ReturnType<typeof refuse>][];
  }

  async function open(options: Options = {}) {
    const { names = ['credit'], playedMs = 2 * HOUR_MS, instead = [], ...console } = options;
    const opened = await show({ agent: null, page: 'balance', ...console });
    const { page, context } = opened;
    // Today, whose end is after the markets have traded.
    const startMs = startOfDayMs(systemClock.now());
    const fake = await fakeMarket(context, { names, playedMs, startMs });
    for (const [of, answer] of instead) fake.instead.set(of, answer);
    await page.clock.install({ time: fake.nowMs() });
    await page.evaluate('location.hash = "#/market"');
    return { console: opened, page, fake };
  }

  const rows = (page: Page, side: 'Asks' | 'Bids'): Promise<string[][]> =>
    page
      .locator(`tbody[aria-label="${side}"] tr:not(.blank)`)
      .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent ?? '')));

  /** The next reading of everything, with the markets as they are by then. */
  async function second({ page, fake }: { page: Page; fake: FakeMarket }, ms = SECOND_MS): Promise<void> {
    fake.play(ms);
    await page.clock.runFor(ms);
  }

  const pad = (price: string): string => price.padEnd(6, '0');
  const cents = (size: string): string => {
    const [whole = '', fraction = ''] = size.split('.');
    return `${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${fraction.padEnd(2, '0')}`;
  };

  it('shows both sides of the book, exact, the best next to the gap, with all that is offered up to each price', async () => {
    const { console, page, fake } = await open();
    const [id = ''] = fake.ids;
    await sees(console, 'Spread');
    const { bids, asks, seq } = fake.bookOf(id);
    const shown = (levels: typeof bids) => {
      let totalCents = 0;
      return levels.map(({ price, size }) => {
        totalCents += Math.round(Number(size) * 100);
        return [pad(price), cents(size), cents((totalCents / 100).toFixed(2))];
      });
    };
    expect(await rows(page, 'Asks')).toEqual(shown(asks).reverse());
    expect(await rows(page, 'Bids')).toEqual(shown(bids));
    await sees(console, 'Fresh credit 0.9900');
    await sees(console, `Change ${seq.toLocaleString('en')}, read at`);
    expect(await page.getByLabel('Market').inputValue()).toBe(id);
  });

  it('draws the candles, says them in words, and keeps the name of whose chart it is', async () => {
    const { console, page, fake } = await open();
    const [id = ''] = fake.ids;
    await sees(console, 'Candles in words');
    await page.locator('.candle-chart-box canvas').first().waitFor();
    // Something was drawn: more than a few colours.
    await until(async () => Number(await page.evaluate(coloursDrawn)) > 4);
    await page.getByText('Candles in words').click();
    const listed = await page
      .locator('.candles tbody tr')
      .evaluateAll((all) =>
        all.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent)),
      );
    const candles = fake.candlesOf(id, '5m', 500).slice(-24).reverse();
    expect(listed).toEqual(
      candles.map(({ open, high, low, close, volume, trades }) => [
        ...[open, high, low, close].map(pad),
        `$${cents(volume)}`,
        String(trades),
      ]),
    );
    const link = page.getByRole('link', { name: 'TradingView Lightweight Charts' });
    expect(await link.getAttribute('href')).toBe('https://www.tradingview.com/');
    await sees(console, '© 2026 TradingView, Inc.');
  });

  it('follows the market within a second, and the gateway’s words on when it was read', async () => {
    const opened = await open();
    const { console, page, fake } = opened;
    const [id = ''] = fake.ids;
    await sees(console, 'Spread');
    for (let turn = 0; turn < 5; turn++) {
      await second(opened);
      const { seq, bids } = fake.bookOf(id);
      await sees(console, `Change ${seq.toLocaleString('en')},`);
      expect((await rows(page, 'Bids'))[0]?.[0]).toBe(pad(bids[0]?.price ?? ''));
    }
    const close = fake.candlesOf(id, '5m', 1)[0]?.close ?? '';
    await sees(console, `Close ${pad(close)}`);
  });

  it('goes on with a new candle when its interval begins, and shows a gap where nothing was traded', async () => {
    const opened = await open();
    const { console, page, fake } = opened;
    await page.getByRole('radio', { name: '1m', exact: true }).check();
    await sees(console, 'Candles in words');
    await page.getByText('Candles in words').click();
    const first = () => page.locator('.candles tbody time').first().getAttribute('datetime');
    const before = await first();
    for (let turn = 0; turn < 3; turn++) await second(opened, 40 * SECOND_MS);
    await second(opened);
    const newest = new Date(fake.candlesOf(fake.ids[0] ?? '', '1m', 2).at(-1)?.time ?? 0).toISOString();
    await until(async () => (await first()) === newest);
    expect(before).not.toBe(newest);
  });

  it('reads all candles again where some may be missing, as when many trades come at once', async () => {
    const opened = await open({ playedMs: 6 * HOUR_MS });
    const { console, page, fake } = opened;
    await sees(console, 'Candles in words');
    const all = fake.candlesOf(fake.ids[0] ?? '', '5m', 500);
    const few = { market: fake.ids[0], interval: '15m', candles: all.slice(0, 1) };
    fake.instead.set('candles', (route) => route.fulfill({ json: few }));
    await page.getByRole('radio', { name: '15m' }).check();
    await page.getByText('Candles in words').click();
    const listed = page.locator('.candles tbody tr');
    await until(async () => (await listed.count()) === 1);
    fake.instead.clear();
    await second(opened);
    await second(opened);
    await until(async () => (await listed.count()) === 24);
  });

  it('draws on when a reading knows less than the one before, as of another process or after a loss', async () => {
    const opened = await open();
    const { console, page, fake } = opened;
    const [id = ''] = fake.ids;
    await page.getByRole('radio', { name: '1m', exact: true }).check();
    await sees(console, 'Candles in words');
    await page.getByText('Candles in words').click();
    await page.locator('.candle-chart-box canvas').first().waitFor();
    const first = () => page.locator('.candles tbody time').first().getAttribute('datetime');
    const timeOf = (candle: { time: number } | undefined) => new Date(candle?.time ?? 0).toISOString();
    const [behind] = fake.candlesOf(id, '1m', 3);
    fake.instead.set('candles', (route) =>
      route.fulfill({ json: { market: id, interval: '1m', candles: [behind] } }),
    );
    await second(opened);
    await until(async () => (await first()) === timeOf(behind));
    fake.instead.clear();
    for (let turn = 0; turn < 3; turn++) await second(opened);
    await until(async () => (await first()) === timeOf(fake.candlesOf(id, '1m', 2).at(-1)));
    // An error within the chart would have ended the test at its end.
    expect(await page.locator('.candle-chart-box canvas').count()).toBeGreaterThan(0);
  });

  it('asks for no more than 200 weight a minute, and for nothing while nobody looks', async () => {
    const opened = await open();
    const { console, page, fake } = opened;
    await sees(console, 'Spread');
    fake.asked.length = 0;
    const startMs = Number(await page.evaluate('Date.now()'));
    // Each answer is awaited before the next second: a browser does not keep up with a clock that leaps.
    for (let turn = 0; turn < 60; turn++) {
      const asked = fake.asked.length;
      await second(opened);
      await until(async () => fake.asked.length > asked);
    }
    const weightOf = ({ path, query }: FakeMarket['asked'][number]): number =>
      path.endsWith('/book') ? (Number(query.get('depth')) > 20 ? 5 : 1) : 2;
    const weight = fake.asked.reduce((sum, each) => sum + weightOf(each), 0);
    const minutes = (Number(await page.evaluate('Date.now()')) - startMs) / MINUTE_MS;
    expect(weight / minutes).toBeLessThanOrEqual(200);
    expect(weight).toBeGreaterThan(60);

    await page.evaluate(seen('hidden'));
    // What was under way comes to its end.
    await second(opened, 2 * SECOND_MS);
    fake.asked.length = 0;
    await second(opened, MINUTE_MS);
    expect(fake.asked).toEqual([]);
    await page.evaluate(seen('visible'));
    await sees(console, `Change ${fake.bookOf(fake.ids[0] ?? '').seq.toLocaleString('en')},`);
    // All candles again: many may have come.
    const candles = fake.asked.find(({ path }) => path.endsWith('/candles'));
    expect(Number(candles?.query.get('limit'))).toBeGreaterThan(2);
  });

  it('needs no key, sends none, and shows nobody’s pages', async () => {
    const { console, page, fake } = await open();
    await sees(console, 'Spread');
    expect(fake.asked.some(({ hadKey }) => hadKey)).toBe(false);
    expect(await page.getByRole('navigation').count()).toBe(0);
    await page.getByRole('link', { name: 'Open the console' }).click();
    await page.getByLabel('API key').waitFor();
    await page.getByRole('link', { name: 'market of credit' }).click();
    await sees(console, 'Spread');
  });

  it('stays when the key is no good any more', async () => {
    const { console, page, fake } = await open();
    await page.evaluate('sessionStorage.setItem("faregate.key", "fg_revoked")');
    await page.reload();
    await sees(console, 'Spread');
    await page.getByRole('navigation').waitFor({ state: 'detached' });
    expect(fake.asked.some(({ hadKey }) => hadKey)).toBe(false);
  });

  it('says so while the exchange is not open, and shows the first market as soon as it is', async () => {
    const notOpen = refuse(404, 'not_found', 'The market exchange is not open yet.');
    const opened = await open({ instead: [['markets', notOpen]] });
    await sees(opened.console, 'The exchange is not open yet');
    expect(await opened.page.getByRole('alert').count()).toBe(0);
    opened.fake.instead.clear();
    await second(opened, 10 * SECOND_MS);
    await sees(opened.console, 'Spread');
  });

  it('shows no book that has stopped, keeps the chart meanwhile, and the book once it goes on', async () => {
    const opened = await open();
    const { console, page, fake } = opened;
    await sees(console, 'Spread');
    fake.instead.set('book', STOPPED);
    await second(opened);
    await sees(console, 'The book has stopped');
    expect(await page.locator('.book').count()).toBe(0);
    expect(await page.locator('.candle-chart-box canvas').count()).toBeGreaterThan(0);
    fake.instead.clear();
    await second(opened, 5 * SECOND_MS);
    await sees(console, 'Spread');
  });

  it('says when a market has closed, and leads to the newest', async () => {
    const opened = await open({ names: ['credit', 'credit'] });
    const { console, page, fake } = opened;
    const [newest = '', older = ''] = fake.ids;
    await sees(console, 'Spread');
    await page.getByLabel('Market').selectOption(older);
    await until(async () => fake.asked.some(({ path }) => path.includes(older)));
    await sees(console, 'Spread');
    await sees(console, 'in the newest market');
    fake.ids.pop();
    await second(opened);
    await sees(console, `The market ${older} has closed.`);
    await page.getByRole('button', { name: 'Show the newest market' }).click();
    await sees(console, 'Fresh credit 0.9900');
    expect(await page.getByLabel('Market').inputValue()).toBe(newest);
  });

  it('waits as long as it is told when the address has read too much', async () => {
    const opened = await open();
    const { console, page, fake } = opened;
    await sees(console, 'Spread');
    const limited = refuse(429, 'rate_limited', 'This address has used its weight.', { 'retry-after': '30' });
    for (const of of ['book', 'candles']) fake.instead.set(of, limited);
    await second(opened);
    await sees(console, 'This address has used its weight.');
    // Of the chart it says no more than that it waits.
    await sees(console, 'Price Waiting');
    expect(await page.getByRole('alert').count()).toBe(1);
    // The limits of an agent are others, and who has no key cannot read them.
    expect(await page.getByRole('link', { name: 'See the limits' }).count()).toBe(0);
    fake.asked.length = 0;
    for (let turn = 0; turn < 15; turn++) await second(opened);
    expect(fake.asked.filter(({ path }) => /book|candles/.test(path))).toEqual([]);
    fake.instead.clear();
    await second(opened, 30 * SECOND_MS);
    await sees(console, 'Spread');
  });

  it('says that no answer comes, and goes on when one does', async () => {
    const opened = await open();
    const { console, fake } = opened;
    await sees(console, 'Spread');
    fake.instead.set('book', (route) => route.abort());
    await second(opened);
    await sees(console, 'No answer came from the gateway.');
    fake.instead.clear();
    await second(opened, 6 * SECOND_MS);
    await sees(console, 'Spread');
  });

  it('shows a market without trades, and a side without offers', async () => {
    const { console, fake, page } = await open({ playedMs: 0 });
    await sees(console, 'No trades yet');
    const [id = ''] = fake.ids;
    const book = fake.bookOf(id);
    fake.instead.set('book', (route) =>
      route.fulfill({ json: { ...book, asks: [], bids: book.bids.slice(0, 1) } }),
    );
    await page.clock.runFor(SECOND_MS);
    await sees(console, 'One side is empty');
    expect(await rows(page, 'Asks')).toEqual([]);
    expect(await rows(page, 'Bids')).toHaveLength(1);
  });

  it('says where the trades are when the chosen interval does not reach back to them', async () => {
    const { console, page, fake } = await open();
    await sees(console, 'Candles in words');
    const none = { market: fake.ids[0], interval: '1m', candles: [] };
    fake.instead.set('candles', (route) => route.fulfill({ json: none }));
    await page.getByRole('radio', { name: '1m', exact: true }).check();
    await sees(console, 'No trades lately The last ones are further back: choose a longer interval.');
  });

  it('does not send to the newest market for fresh credit who is there already', async () => {
    const opened = await open();
    const { console, fake } = opened;
    await sees(console, 'from the operator, any size');
    const book = fake.bookOf(fake.ids[0] ?? '');
    fake.instead.set('book', (route) => route.fulfill({ json: { ...book, freshPrice: null } }));
    await second(opened);
    await sees(console, 'Fresh credit – no price now');
  });

  it('needs no mouse', async () => {
    const { console, page, fake } = await open({ names: ['credit', 'credit'] });
    await sees(console, 'Spread');
    const { keyboard } = page;
    await page.getByLabel('Market').focus();
    await keyboard.press('ArrowUp');
    await until(async () => (await page.getByLabel('Market').inputValue()) === fake.ids[1]);
    // What is in sight before may still be the other market's.
    await until(async () => fake.asked.some(({ path }) => path.endsWith(`${fake.ids[1]}/book`)));
    await sees(console, 'Spread');
    await keyboard.press('Tab');
    await keyboard.press('ArrowRight');
    await until(async () => fake.asked.some(({ query }) => query.get('interval') === '15m'));
    await page.getByText('Candles in words').waitFor();
    for (let i = 0; i < 6; i++) {
      if ((await page.evaluate('document.activeElement.tagName')) === 'SUMMARY') break;
      await keyboard.press('Tab');
    }
    await keyboard.press('Enter');
    await page.getByRole('region', { name: 'Candles, newest first' }).waitFor();
  });

  describe.each(
    (['light', 'dark'] as const).flatMap((colorScheme) =>
      Object.entries({ phone, desktop, small: { width: 320, height: 640 } }).map(([size, viewport]) => ({
        ...{ colorScheme, size, viewport },
      })),
    ),
  )('on a $size, $colorScheme', ({ viewport, colorScheme }) => {
    it('has no fault of accessibility, and nothing beside the screen', async () => {
      const { console, page } = await open({ viewport, colorScheme, names: ['credit', 'credit'] });
      await sees(console, 'Spread');
      await page.locator('.candle-chart-box canvas').first().waitFor();
      await page.getByText('Candles in words').click();
      await expectNoFault(console);
    });
  });

  it.each([320, 1280])('fits the longest id and the smallest steps on a screen of %d', async (width) => {
    const { console, page, fake } = await open({
      names: ['a'.repeat(40)],
      viewport: { width, height: 800 },
    });
    const [id = ''] = fake.ids;
    const finest = '000000001';
    const levels = fake.bookOf(id).bids.map(({ price, orders }) => ({
      ...{ price: `${pad(price)}54321`, size: '12345.987654321', orders },
    }));
    const book = { ...fake.bookOf(id), bids: levels, asks: levels, freshPrice: '0.987654321' };
    fake.instead.set('book', (route) => route.fulfill({ json: book }));
    const market = { ...fake.listOf(id), price_tick: `0.${finest}`, size_step: `0.${finest}` };
    fake.instead.set('markets', (route) => route.fulfill({ json: { object: 'list', markets: [market] } }));
    await page.reload();
    await sees(console, '12,345.987654321');
    const cut = await page
      .locator('.market-sums, .market-sums dd, .book :is(th, td):not(.blank *)')
      .evaluateAll((all) => all.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length);
    expect(cut).toBe(0);
    await expectNoFault(console);
  });

  async function expectNoFault({ page }: ConsolePage): Promise<void> {
    await page.evaluate(axe);
    const found = await page.evaluate(
      `axe.run(document).then(({ violations }) =>
        violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`,
    );
    expect(found).toEqual([]);
    expect(
      await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
    ).toBe(0);
  }
});

const seen = (state: 'hidden' | 'visible'): string =>
  `Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
   document.dispatchEvent(new Event('visibilitychange'))`;

const coloursDrawn = `
  (() => {
    const colours = new Set();
    for (const canvas of document.querySelectorAll('.candle-chart-box canvas')) {
      if (canvas.width * canvas.height === 0) continue;
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      for (let i = 0; i < data.length; i += 4) colours.add(data.slice(i, i + 4).join());
    }
    return colours.size;
  })()`;
