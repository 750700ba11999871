import { useState } from '/console/vendor/preact-hooks.js';
import { html } from '../lib/html.js';
import { count, counted, shortCount } from '../lib/numbers.js';
import { dayName, shortDay } from '../lib/time.js';
import { useChart } from '../lib/use-chart.js';
import { Usd } from './usd.js';

/** @typedef {import('../client/records.d.ts').UsageSum & { day: string }} Day */
/** @typedef {'usd' | 'calls' | 'tokens'} Measure */

const HEIGHT = 220;
/** Room that a day's name takes. */
const NAME_WIDTH = 56;

/**
 * A bar a day. For those who see it; the table beside it says the same to everybody.
 *
 * @param {{ days: readonly Day[], measure: Measure }} props
 */
export function DayChart({ days, measure }) {
  const [pointed, setPointed] = useState(/** @type {number | null} */ (null));
  const { box } = useChart(
    async (parent) => {
      const { default: UPlot } = await import('/console/vendor/uplot.js');
      const values = days.map((day) => Number(day[measure]));
      const data = /** @type {[number[], number[]]} */ ([days.map((_, index) => index), values]);
      const chart = new UPlot(
        chartOptions(UPlot, { days, measure, parent, onPoint: setPointed }),
        data,
        parent,
      );
      const resized = new ResizeObserver(() => chart.setSize({ width: parent.clientWidth, height: HEIGHT }));
      resized.observe(parent);
      return {
        close() {
          resized.disconnect();
          chart.destroy();
        },
      };
    },
    [days.map((day) => `${day.day} ${day[measure]}`).join(), measure],
  );

  const day = days[pointed ?? days.length - 1];
  return html`
    <div class="day-chart" aria-hidden="true">
      ${
        day !== undefined &&
        html`<p class="readout">
          <strong>${dayName(day.day)}</strong> <${Usd} usd=${day.usd} />
          <span class="soft">${counted(day.calls, 'call')}, ${count(day.tokens)} tokens</span>
        </p>`
      }
      <div ref=${box} class="day-chart-box"></div>
    </div>
  `;
}

/**
 * @param {typeof import('/console/vendor/uplot.js')} UPlot
 * @param {{ days: readonly Day[], measure: Measure, parent: HTMLElement, onPoint: (index: number | null) => void }} chart
 * @returns {import('/console/vendor/uplot.js').Options}
 */
function chartOptions(UPlot, { days, measure, parent, onPoint }) {
  const style = getComputedStyle(parent);
  const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  const font = `12px ${style.fontFamily}`;
  const last = days.length - 1;
  const text = { stroke: colour('--ink-faint'), font };
  return {
    width: parent.clientWidth,
    height: HEIGHT,
    padding: [12, 8, 0, 0],
    legend: { show: false },
    cursor: { x: false, y: false, points: { show: false }, drag: { setScale: false, x: false, y: false } },
    scales: {
      x: { time: false, range: [-0.6, last + 0.6] },
      y: { range: (_, __, most) => [0, most > 0 ? most * 1.08 : 1] },
    },
    axes: [
      {
        ...text,
        size: 32,
        grid: { show: false },
        ticks: { show: false },
        splits: (chart) => namedDays(days.length, chart.width),
        values: (_, splits) => splits.map((index) => shortDay(days[index]?.day ?? 0)),
      },
      {
        ...text,
        size: 64,
        grid: { stroke: colour('--line'), width: 1 },
        ticks: { show: false },
        ...(measure === 'usd' ? {} : { incrs: wholeSteps }),
        values: (_, splits, __, ___, step) => splits.map((value) => amount(value, step, measure)),
      },
    ],
    series: [
      {},
      {
        fill: colour('--accent-bar'),
        width: 0,
        points: { show: false },
        ...(UPlot.paths.bars === undefined
          ? {}
          : { paths: UPlot.paths.bars({ size: [0.72, 44], radius: 0.15 }) }),
      },
    ],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
  };
}

/** Nobody makes half a call. */
const wholeSteps = Array.from({ length: 13 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
).flat();

/** As many days as have room for their names, counted back from today. @param {number} length @param {number} width */
function namedDays(length, width) {
  const every = Math.max(1, Math.ceil((length * NAME_WIDTH) / Math.max(1, width - 72)));
  return Array.from({ length }, (_, index) => index).filter((index) => (length - 1 - index) % every === 0);
}

/** @param {number} value @param {number} step @param {Measure} measure */
function amount(value, step, measure) {
  if (measure !== 'usd') return shortCount(value);
  return `$${value.toFixed(Math.min(9, Math.max(0, -Math.floor(Math.log10(step)))))}`;
}
