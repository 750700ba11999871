import { DEPTH } from '../client/use-market.js';
import { placesOf, withPlaces } from '../lib/decimal.js';
import { html } from '../lib/html.js';
import { count } from '../lib/numbers.js';
import { utcClock } from '../lib/time.js';
import { fromNano, shareOf, toNano } from '../lib/usd.js';

/** @typedef {import('../client/records.d.ts').Book} Book */
/** @typedef {import('../client/records.d.ts').BookLevel} BookLevel */
/** @typedef {import('../client/records.d.ts').Market} Market */
/** @typedef {{ level: BookLevel, totalNano: bigint, share: number }} Row */

/**
 * Who sells above, who buys below, and the gap between them. Behind each price a bar for all that is offered up to it.
 *
 * @param {{ book: Book, market: Market }} props
 */
export function OrderBook({ book, market }) {
  const price = (/** @type {string} */ text) => withPlaces(text, placesOf(market.price_tick));
  const size = (/** @type {string} */ text) => withPlaces(text, placesOf(market.size_step));
  const most = [book.bids, book.asks]
    .map((levels) => levels.reduce((sum, level) => sum + toNano(level.size), 0n))
    .reduce((a, b) => (a > b ? a : b));
  const row = (
    /** @type {Row} */ { level, totalNano, share },
  ) => html`<tr key=${level.price} style=${{ '--share': share }}>
    <th scope="row">${price(level.price)}</th>
    <td class="num">${size(level.size)}</td>
    <td class="num soft">${size(fromNano(totalNano))}</td>
  </tr>`;
  return html`
    <div class="book-scroll" tabindex="0" role="region" aria-label="Levels of the order book">
      <table class="book">
        <caption class="unseen">Order book: asks from the dearest, then bids from the dearest</caption>
        <thead>
          <tr>
            <th scope="col">Price <span class="unit">USDT</span></th>
            <th scope="col" class="num">Credit <span class="unit">$</span></th>
            <th scope="col" class="num">Total <span class="unit">$</span></th>
          </tr>
        </thead>
        <tbody class="asks" aria-label="Asks">
          ${blanks(DEPTH - book.asks.length)}
          ${rowsOf(book.asks, most).reverse().map(row)}
        </tbody>
        <tbody class="gap">
          <tr><td colspan="3"><${Gap} book=${book} price=${price} /></td></tr>
        </tbody>
        <tbody class="bids" aria-label="Bids">
          ${rowsOf(book.bids, most).map(row)}
          ${blanks(DEPTH - book.bids.length)}
        </tbody>
      </table>
    </div>
    <p class="soft small book-foot">
      Change ${count(book.seq)}, read at <time datetime=${new Date(book.time).toISOString()}>${utcClock(book.time)} UTC</time>
    </p>
  `;
}

/** @param {readonly BookLevel[]} levels Best first. @param {bigint} mostNano @returns {Row[]} */
function rowsOf(levels, mostNano) {
  let totalNano = 0n;
  return levels.map((level) => {
    totalNano += toNano(level.size);
    return { level, totalNano, share: shareOf(totalNano, mostNano) };
  });
}

/** So that nothing moves when a side gets thin. @param {number} missing */
const blanks = (missing) =>
  Array.from(
    { length: Math.max(0, missing) },
    (_, index) =>
      html`<tr key=${`blank ${index}`} class="blank" aria-hidden="true"><td colspan="3">·</td></tr>`,
  );

/** @param {{ book: Book, price: (text: string) => string }} props */
function Gap({ book: { bids, asks, freshPrice }, price }) {
  const [bid, ask] = [bids[0]?.price, asks[0]?.price];
  const spread = bid === undefined || ask === undefined ? null : fromNano(toNano(ask) - toNano(bid));
  return html`
    <span>${spread === null ? 'One side is empty' : html`Spread <b>${price(spread)}</b>`}</span>
    ${freshPrice !== null && html`<span class="fresh">Fresh credit <b>${price(freshPrice)}</b></span>`}
  `;
}
