import { useEffect, useRef, useState } from '/console/vendor/preact-hooks.js';
import { useBook, useCandles, useMarkets } from '../client/use-market.js';
import { placesOf, withPlaces } from '../lib/decimal.js';
import { fieldValue, html } from '../lib/html.js';
import { count } from '../lib/numbers.js';
import { dayName, fromNow, longTime, utcTime } from '../lib/time.js';
import { toNano } from '../lib/usd.js';
import { CandleChart } from '../parts/candle-chart.js';
import { Empty, Notice } from '../parts/notice.js';
import { OrderBook } from '../parts/order-book.js';
import { PageHead } from '../parts/page-head.js';
import { ProblemNotice } from '../parts/problem-notice.js';
import { Segmented } from '../parts/segmented.js';

/** @typedef {import('../client/records.d.ts').Market} Market */
/** @typedef {import('../client/records.d.ts').CandleInterval} CandleInterval */
/** @typedef {import('../client/use-market.js').Candles} Candles */

/** @type {readonly (readonly [CandleInterval, string])[]} */
const intervals = [
  ['1m', '1m'],
  ['5m', '5m'],
  ['15m', '15m'],
  ['1h', '1h'],
  ['4h', '4h'],
  ['1d', '1d'],
];
/** Of the table, newest first. */
const LISTED_CANDLES = 24;

/** Everybody's: it needs no key. */
export function MarketView() {
  const { value, problem, again } = useMarkets();
  const [picked, setPicked] = useState(/** @type {string | null} */ (null));
  const markets = value?.markets ?? [];
  const newest = markets.find((each) => each.newest) ?? markets[0];
  // Nobody is moved to another market because a newer one has opened.
  useEffect(() => {
    if (picked === null && newest !== undefined) setPicked(newest.id);
  }, [picked, newest?.id]);
  const market = markets.find(({ id }) => id === picked);
  const isNotOpen = problem?.code === 'not_found' || (value !== null && markets.length === 0);
  const leave = () => setPicked(null);

  return html`
    <${PageHead} title="Market" about="Credit that ends on a date, traded for USDT. A price is what a dollar of it costs.">
      ${markets.length > 0 && html`<${MarketField} markets=${markets} picked=${picked} onPick=${setPicked} />`}
    <//>
    ${isNotOpen && html`<${NotOpen} />`}
    ${!isNotOpen && value === null && html`<${Unread} problem=${problem} again=${again} />`}
    ${!isNotOpen && market !== undefined && html`<${OpenMarket} key=${market.id} market=${market} onLeave=${leave} />`}
    ${
      !isNotOpen &&
      market === undefined &&
      value !== null &&
      picked !== null &&
      html`<${Closed} id=${picked} onLeave=${leave} />`
    }
  `;
}

const NotOpen = () => html`
  <section class="card">
    <${Empty} title="The exchange is not open yet">
      <p>No market of credit is listed on this gateway. The page shows the first one as soon as it opens.</p>
    <//>
  </section>
`;

/** @param {{ problem: import('../client/problem.js').Problem | null, again: () => void }} props */
const Unread = ({ problem, again }) =>
  problem === null
    ? html`<div class="skeleton" role="status">Loading…</div>`
    : html`<${ProblemNotice} problem=${problem} retry=${again} isPublic />`;

/** @param {{ markets: readonly Market[], picked: string | null, onPick: (id: string) => void }} props */
const MarketField = ({ markets, picked, onPick }) => html`
  <label class="inline-field market-field">
    <span class="unseen">Market</span>
    <select value=${picked ?? ''} onChange=${(/** @type {Event} */ event) => onPick(fieldValue(event))}>
      ${markets.map(({ id, newest }) => html`<option key=${id} value=${id}>${id}${newest ? ' (newest)' : ''}</option>`)}
    </select>
  </label>
`;

/** @param {{ id: string, onLeave: () => void }} props */
const Closed = ({ id, onLeave }) => html`
  <div role="status">
    <${Notice} tone="warn">
      <p>The market <bdi>${id}</bdi> has closed.</p>
      <p class="notice-foot"><button type="button" class="link" onClick=${onLeave}>Show the newest market</button></p>
    <//>
  </div>
`;

/** @param {{ market: Market, onLeave: () => void }} props */
function OpenMarket({ market, onLeave }) {
  const [interval, pickInterval] = useState(/** @type {CandleInterval} */ ('5m'));
  const book = useBook(market.id);
  const candles = useCandles(market.id, interval);
  const places = placesOf(market.price_tick);
  const last = candles.value?.candles.at(-1)?.close ?? market.last_price;
  // The list may be some seconds behind.
  if ([book, candles].some(({ problem }) => problem?.code === 'unknown_market')) {
    return html`<${Closed} id=${market.id} onLeave=${onLeave} />`;
  }
  return html`
    <${Sums} market=${market} last=${last} fresh=${book.value?.freshPrice ?? null} places=${places} />
    <div class="market">
      <section class="card market-chart" aria-labelledby="market-candles">
        <div class="card-head">
          <h2 id="market-candles">Price ${candles.problem !== null && html`<${Liveness} polled=${candles} />`}</h2>
          <${Segmented} label="Interval of candles" options=${intervals} value=${interval} onPick=${pickInterval} />
        </div>
        ${
          candles.value === null
            ? html`<${Unread} problem=${candles.problem} again=${candles.again} />`
            : html`<${CandlesOf} shown=${candles.value} places=${places} hasTraded=${last !== null} />`
        }
        <p class="small attribution">
          Chart: <a href="https://www.tradingview.com/" rel="noopener noreferrer" target="_blank">TradingView Lightweight Charts™</a>,
          © 2026 TradingView, Inc.
        </p>
      </section>
      <section class="card market-book" aria-labelledby="market-book">
        <div class="card-head">
          <h2 id="market-book">Order book</h2>
          <${Liveness} polled=${book} />
        </div>
        <${BookOf} book=${book} market=${market} />
      </section>
    </div>
  `;
}

/** @param {{ polled: import('../client/use-polled.js').Polled<unknown> }} props */
function Liveness({ polled: { value, problem } }) {
  if (value === null) return null;
  return problem === null
    ? html`<span class="badge badge-ok" role="status">Live</span>`
    : html`<span class="badge badge-pending" role="status">Waiting</span>`;
}

/**
 * A book that has stopped is not shown as it was last: nobody knows whether it still is so.
 *
 * @param {{ book: import('../client/use-polled.js').Polled<import('../client/records.d.ts').Book>, market: Market }} props
 */
function BookOf({ book: { value, problem, again }, market }) {
  if (problem?.code === 'service_unavailable') {
    return html`<div role="status">
      <${Empty} title="The book has stopped">
        <p>
          The gateway has lost the exchange's thread. It shows no book until it has a whole one again, which usually takes
          seconds.
        </p>
      <//>
    </div>`;
  }
  if (problem !== null || value === null) return html`<${Unread} problem=${problem} again=${again} />`;
  return html`<${OrderBook} book=${value} market=${market} />`;
}

/** @param {{ shown: Candles, places: number, hasTraded: boolean }} props */
function CandlesOf({ shown, places, hasTraded }) {
  if (shown.candles.length === 0) {
    return hasTraded
      ? html`<${Empty} title="No trades lately"><p>The last ones are further back: choose a longer interval.</p><//>`
      : html`<${Empty} title="No trades yet"><p>The first trade of this market begins its first candle.</p><//>`;
  }
  const newestFirst = shown.candles.slice(-LISTED_CANDLES).reverse();
  const price = (/** @type {string} */ text) => withPlaces(text, places);
  return html`
    <${CandleChart} shown=${shown} places=${places} />
    <details>
      <summary>Candles in words</summary>
      <div class="scroll" tabindex="0" role="region" aria-label="Candles, newest first">
        <table class="candles">
          <caption class="unseen">Intervals that had trades, newest first; times are UTC</caption>
          <thead>
            <tr>
              <th scope="col">From</th>
              ${['Open', 'High', 'Low', 'Close', 'Credit', 'Trades'].map((name) => html`<th key=${name} scope="col" class="num">${name}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${newestFirst.map(
              ({ time, open, high, low, close, volume, trades }) => html`<tr key=${time}>
                <th scope="row"><time datetime=${new Date(time).toISOString()}>${utcTime(time)}</time></th>
                <td class="num">${price(open)}</td>
                <td class="num">${price(high)}</td>
                <td class="num">${price(low)}</td>
                <td class="num">${price(close)}</td>
                <td class="num">$${withPlaces(volume, 2)}</td>
                <td class="num">${count(trades)}</td>
              </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </details>
  `;
}

/** @param {{ market: Market, last: string | null, fresh: string | null, places: number }} props */
function Sums({ market, last, fresh, places }) {
  const tone = useDirection(last);
  return html`
    <dl class="sums market-sums">
      <div>
        <dt>Last price</dt>
        <dd>
          ${last === null ? '–' : html`<span class=${tone}>${withPlaces(last, places)}</span>`}
          <span class="sum-note">${last === null ? 'no trades yet' : belowFace(last)}</span>
        </dd>
      </div>
      <div>
        <dt>Fresh credit</dt>
        <dd>
          ${fresh === null ? '–' : withPlaces(fresh, places)}
          <span class="sum-note">${freshNote(market, fresh)}</span>
        </dd>
      </div>
      <div>
        <dt>Traded in 24 hours</dt>
        <dd>$${withPlaces(market.volume_24h.split('.')[0] ?? '0', 0)}<span class="sum-note">of credit</span></dd>
      </div>
      <div>
        <dt>Credit ends</dt>
        <dd>
          <time datetime=${market.ends_at} title=${longTime(market.ends_at)}>${dayName(market.ends_at)}</time>
          <span class="sum-note">${fromNow(market.ends_at)}, at 00:00 UTC</span>
        </dd>
      </div>
    </dl>
  `;
}

/** @param {Market} market @param {string | null} fresh */
function freshNote({ newest }, fresh) {
  if (fresh !== null) return 'from the operator, any size';
  return newest ? 'no price now' : 'in the newest market';
}

/** What a buyer saves. @param {string} price */
function belowFace(price) {
  const tenths = Number((1_000_000_000n - toNano(price)) / 1_000_000n);
  if (tenths === 0) return 'USDT for $1';
  return `USDT for $1, ${(Math.abs(tenths) / 10).toFixed(1)} % ${tenths > 0 ? 'less' : 'more'}`;
}

/** Whether the last change was up or down. @param {string | null} price @returns {'up' | 'down' | ''} */
function useDirection(price) {
  const known = useRef({ price, tone: /** @type {'up' | 'down' | ''} */ ('') });
  if (price !== known.current.price) {
    const before = known.current.price;
    const rose = before === null || price === null ? null : toNano(price) > toNano(before);
    known.current = { price, tone: rose === null ? '' : rose ? 'up' : 'down' };
  }
  return known.current.tone;
}
