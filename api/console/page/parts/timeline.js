import { html } from '../lib/html.js';
import { DAY_MS, dayName, fromNow, isoDay, longTime, weekday } from '../lib/time.js';
import { fromNano, shareOf, toNano } from '../lib/usd.js';
import { Usd } from './usd.js';

const SOON_MS = 2 * DAY_MS;

/**
 * How credit ends if nothing is spent: one column a day, as high as what is left on it, with what ends after it marked;
 * then the same in exact words.
 *
 * @param {{ lots: readonly { at: string, usd: string }[] }} props Soonest first.
 */
export function Timeline({ lots }) {
  const steps = stepsOf(lots);
  const whole = steps[0]?.aliveNano ?? 0n;
  return html`
    <div class="timeline" aria-hidden="true">
      ${daysOf(steps).map(({ day, aliveNano, endsNano }, index) => {
        const alive = shareOf(aliveNano, whole);
        return html`<div class="timeline-day" key=${day}>
          <div class="timeline-column">
            <i style=${{ '--share': alive }}><b style=${{ '--share': shareOf(endsNano, aliveNano) }}></b></i>
          </div>
          <span>${index === 0 ? 'Today' : weekday(day)}</span>
          <span class="timeline-date">${day.slice(8)}</span>
        </div>`;
      })}
    </div>
    <p class="legend" aria-hidden="true"><i class="swatch-alive"></i>lasts on <i class="swatch-ends"></i>ends after this day</p>
    <table>
      <caption class="unseen">Credit by the time at which it ends, soonest first</caption>
      <thead>
        <tr>
          <th scope="col">Ends</th>
          <th scope="col" class="num money">Ending</th>
          <th scope="col" class="num money">Left after it</th>
        </tr>
      </thead>
      <tbody>
        ${steps.map(
          ({ at, usd, leftNano }) => html`<tr key=${at}>
            <th scope="row">
              <time datetime=${at} title=${longTime(at)}>${dayName(at)}, 00:00 UTC</time>${' '}
              <span class=${Date.parse(at) - Date.now() < SOON_MS ? 'tag tag-warn' : 'tag'}>${fromNow(at)}</span>
            </th>
            <td class="num"><${Usd} usd=${usd} /></td>
            <td class="num soft"><${Usd} usd=${fromNano(leftNano)} /></td>
          </tr>`,
        )}
      </tbody>
    </table>
    <p class="soft small">Credit that ends first is spent first. “Left after it” is what remains if nothing is spent.</p>
  `;
}

/**
 * @typedef {{ at: string, usd: string, nano: bigint, aliveNano: bigint, leftNano: bigint }} Step
 * @param {readonly { at: string, usd: string }[]} lots
 * @returns {Step[]}
 */
function stepsOf(lots) {
  let left = lots.reduce((sum, { usd }) => sum + toNano(usd), 0n);
  return lots.map(({ at, usd }) => {
    const nano = toNano(usd);
    const aliveNano = left;
    left -= nano;
    return { at, usd, nano, aliveNano, leftNano: left };
  });
}

/** Every UTC day from today to the last that has credit; a lot ends at the end of one. @param {readonly Step[]} steps */
function daysOf(steps) {
  const lastMs = Math.max(...steps.map(({ at }) => Date.parse(at))) - 1;
  const days = [];
  for (let ms = Date.now(); isoDay(ms) <= isoDay(lastMs); ms += DAY_MS) {
    const day = isoDay(ms);
    const endOfDay = Date.parse(day) + DAY_MS;
    const alive = steps.filter(({ at }) => Date.parse(at) >= endOfDay);
    days.push({
      day,
      aliveNano: alive.reduce((sum, { nano }) => sum + nano, 0n),
      endsNano: alive.reduce((sum, { at, nano }) => (Date.parse(at) === endOfDay ? sum + nano : sum), 0n),
    });
  }
  return days;
}
