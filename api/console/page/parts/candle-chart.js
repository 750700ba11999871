import { useEffect, useRef, useState } from '/console/vendor/preact-hooks.js';
import { withPlaces } from '../lib/decimal.js';
import { html } from '../lib/html.js';
import { counted } from '../lib/numbers.js';
import { utcTime } from '../lib/time.js';
import { useChart } from '../lib/use-chart.js';
import { openChart } from './open-chart.js';

/** @typedef {import('../client/records.d.ts').Candle} Candle */
/** @typedef {import('../client/use-market.js').Candles} Candles */

/**
 * For those who see it; the table beside it says the same to everybody.
 *
 * @param {{ shown: Candles, places: number }} props `places`: digits of a price behind its point.
 */
export function CandleChart({ shown, places }) {
  const newest = useRef(shown);
  newest.current = shown;
  const [pointed, setPointed] = useState(/** @type {number | null} */ (null));
  const { box, chart } = useChart(
    async (parent) => {
      const opened = await openChart(parent, places, setPointed);
      opened.show(newest.current);
      return opened;
    },
    [places],
  );
  useEffect(() => chart.current?.show(shown), [shown]);

  const { candles } = shown;
  const candle = candles.find(({ time }) => time === pointed) ?? candles.at(-1);
  return html`
    <div class="candle-chart" aria-hidden="true">
      <p class="readout candles-readout">${candle !== undefined && html`<${Readout} candle=${candle} places=${places} />`}</p>
      <div ref=${box} class="candle-chart-box"></div>
    </div>
  `;
}

/** @param {{ candle: Candle, places: number }} props */
function Readout({ candle, places }) {
  const { time, open, high, low, close, volume, trades } = candle;
  const price = (/** @type {string} */ text) => withPlaces(text, places);
  const tone = Number(close) < Number(open) ? 'down' : 'up';
  return html`
    <strong>${utcTime(time)}</strong>
    <span>Open <b>${price(open)}</b></span>
    <span>High <b>${price(high)}</b></span>
    <span>Low <b>${price(low)}</b></span>
    <span>Close <b class=${tone}>${price(close)}</b></span>
    <span class="soft">$${withPlaces(volume, 2)} in ${counted(trades, 'trade')}</span>
  `;
}
