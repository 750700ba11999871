/*
 * The one place that knows the library of the chart. It draws on a canvas; prices and sizes are numbers here, for the eye
 * alone.
 */

/** @typedef {import('../client/use-market.js').Candles} Candles */
/** @typedef {import('../client/records.d.ts').Candle} Candle */
/** @typedef {import('/console/vendor/lightweight-charts.js').UTCTimestamp} Seconds */

/**
 * @typedef {object} OpenChart
 * @property {(shown: Candles) => void} show
 * @property {() => void} close
 */

const SECONDS = { '1m': 60, '5m': 300, '15m': 900, '1h': 3600, '4h': 14_400, '1d': 86_400 };
/** At first, of the newest. */
const IN_SIGHT = 90;
/** Empty places for what comes next. */
const AHEAD = 4;

/**
 * @param {HTMLElement} parent
 * @param {number} places
 * @param {(timeMs: number | null) => void} onPoint
 * @returns {Promise<OpenChart>}
 */
export async function openChart(parent, places, onPoint) {
  const library = await import('/console/vendor/lightweight-charts.js');
  const colours = coloursOf(parent);
  const chart = library.createChart(parent, chartOptions(colours, library));
  const prices = chart.addSeries(library.CandlestickSeries, {
    ...{ upColor: colours.up, wickUpColor: colours.up, downColor: colours.down, wickDownColor: colours.down },
    borderVisible: false,
    priceFormat: { type: 'price', precision: places, minMove: 10 ** -places },
  });
  prices.priceScale().applyOptions({ scaleMargins: { top: 0.08, bottom: 0.24 } });
  const volumes = chart.addSeries(library.HistogramSeries, {
    ...{ priceScaleId: '', priceLineVisible: false, lastValueVisible: false },
    priceFormat: { type: 'volume' },
  });
  volumes.priceScale().applyOptions({ scaleMargins: { top: 0.84, bottom: 0 } });
  chart.subscribeCrosshairMove(({ time }) => onPoint(typeof time === 'number' ? time * 1000 : null));

  let drawn = { of: '', readings: 0, last: 0 };
  return {
    show({ market, interval, candles, readings }) {
      const of = `${market} ${interval}`;
      const isAnew = of !== drawn.of;
      // It takes no older bar: another process, or one that has lost the newest, may be behind what is drawn.
      const isBehind = (candles.at(-1)?.time ?? 0) / 1000 < drawn.last;
      const whole = isAnew || isBehind || readings !== drawn.readings;
      const places = placesFrom(whole ? 0 : drawn.last, candles, SECONDS[interval]);
      const bars = places.map(([time, candle]) => barOf(time, candle));
      const columns = places.map(([time, candle]) => columnOf(time, candle, colours));
      if (whole) {
        prices.setData(bars);
        volumes.setData(columns);
      } else {
        for (const bar of bars) prices.update(bar);
        for (const column of columns) volumes.update(column);
      }
      if (isAnew) {
        const to = bars.length + AHEAD;
        chart.timeScale().setVisibleLogicalRange({ from: to - IN_SIGHT, to });
      }
      drawn = { of, readings, last: places.at(-1)?.[0] ?? 0 };
    },
    close: () => chart.remove(),
  };
}

/**
 * Every interval from this time on, those without trades too: a second on the axis is as long as any other.
 *
 * @param {number} fromSeconds
 * @param {readonly Candle[]} candles
 * @param {number} step
 * @returns {[Seconds, Candle | undefined][]}
 */
function placesFrom(fromSeconds, candles, step) {
  const known = new Map(candles.map((candle) => [candle.time / 1000, candle]));
  const [first, last] = [candles[0], candles.at(-1)];
  /** @type {[Seconds, Candle | undefined][]} */
  const places = [];
  if (first === undefined || last === undefined) return places;
  for (let at = Math.max(fromSeconds, first.time / 1000); at <= last.time / 1000; at += step) {
    places.push([/** @type {Seconds} */ (at), known.get(at)]);
  }
  return places;
}

/** @param {Seconds} time @param {Candle | undefined} candle */
const barOf = (time, candle) =>
  candle === undefined
    ? { time }
    : {
        time,
        open: Number(candle.open),
        high: Number(candle.high),
        low: Number(candle.low),
        close: Number(candle.close),
      };

/** @param {Seconds} time @param {Candle | undefined} candle @param {{ upSoft: string, downSoft: string }} colours */
const columnOf = (time, candle, { upSoft, downSoft }) =>
  candle === undefined
    ? { time }
    : {
        time,
        value: Number(candle.volume),
        color: Number(candle.close) < Number(candle.open) ? downSoft : upSoft,
      };

/**
 * @param {ReturnType<typeof coloursOf>} colours
 * @param {typeof import('/console/vendor/lightweight-charts.js')} library
 * @returns {import('/console/vendor/lightweight-charts.js').DeepPartial<import('/console/vendor/lightweight-charts.js').TimeChartOptions>}
 */
function chartOptions({ paper, ink, line, cross, label, font }, { ColorType, CrosshairMode }) {
  return {
    autoSize: true,
    layout: {
      background: { type: ColorType.Solid, color: paper },
      textColor: ink,
      fontFamily: font,
      fontSize: 12,
      // It writes markup and a style of its own, both of which the page's policy forbids; the name stands below the chart.
      attributionLogo: false,
    },
    grid: { vertLines: { visible: false }, horzLines: { color: line } },
    crosshair: {
      mode: CrosshairMode.Normal,
      vertLine: { color: cross, labelBackgroundColor: label },
      horzLine: { color: cross, labelBackgroundColor: label },
    },
    rightPriceScale: { borderVisible: false },
    timeScale: { borderColor: line, timeVisible: true, secondsVisible: false },
    // Whoever scrolls the page over the chart scrolls the page.
    handleScroll: { mouseWheel: false, vertTouchDrag: false },
    handleScale: { mouseWheel: false },
    localization: { locale: 'en-GB' },
  };
}

/** @param {HTMLElement} element */
function coloursOf(element) {
  const style = getComputedStyle(element);
  const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  return {
    paper: colour('--surface'),
    ink: colour('--ink-faint'),
    line: colour('--line'),
    cross: colour('--line-strong'),
    label: colour('--ink-soft'),
    up: colour('--good-bar'),
    down: colour('--bad-bar'),
    upSoft: `${colour('--good-bar')}55`,
    downSoft: `${colour('--bad-bar')}55`,
    font: style.fontFamily,
  };
}
