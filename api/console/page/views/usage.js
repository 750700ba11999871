import { useState } from '/console/vendor/preact-hooks.js';
import { useResource } from '../client/use-resource.js';
import { html } from '../lib/html.js';
import { count } from '../lib/numbers.js';
import { dayName, lastDays } from '../lib/time.js';
import { shareOf, toNano } from '../lib/usd.js';
import { Bar } from '../parts/bar.js';
import { DayChart } from '../parts/day-chart.js';
import { Empty } from '../parts/notice.js';
import { PageHead } from '../parts/page-head.js';
import { ResourceView } from '../parts/resource-view.js';
import { Segmented } from '../parts/segmented.js';
import { Usd } from '../parts/usd.js';

/** @typedef {import('../client/records.d.ts').Usage} Usage */

const MOST_DAYS = 90;
const spans = /** @type {const} */ ([
  [1, 'Today'],
  [7, '7 days'],
  [30, '30 days'],
  [90, '90 days'],
]);
const measures = /** @type {const} */ ([
  ['usd', 'Spend'],
  ['calls', 'Calls'],
  ['tokens', 'Tokens'],
]);

export function UsageView() {
  const [days, setDays] = useState(7);
  /** @type {import('../client/use-resource.js').Resource<Usage>} */
  const usage = useResource(`usage ${days}`, (gateway) => gateway.tool('get_usage', { days }));
  const type = (/** @type {Event & { currentTarget: HTMLInputElement }} */ { currentTarget }) => {
    const given = currentTarget.valueAsNumber;
    if (Number.isInteger(given) && given >= 1 && given <= MOST_DAYS) setDays(given);
  };
  return html`
    <${PageHead} title="Usage" about="What was spent, by day and by model. Days are UTC days." resource=${usage} />
    <div class="tools">
      <${Segmented} label="Period" options=${spans} value=${days} onPick=${setDays} />
      <label class="inline-field">
        <span>Days</span>
        <input type="number" min="1" max=${MOST_DAYS} step="1" value=${days} onChange=${type} />
      </label>
    </div>
    <${ResourceView} resource=${usage}>
      ${(/** @type {Usage} */ value) => html`<${Period} key=${days} usage=${value} days=${days} />`}
    <//>
  `;
}

/** @param {{ usage: Usage, days: number }} props */
function Period({ usage, days }) {
  const { total } = usage;
  return html`
    <dl class="sums">
      <div><dt>Spent</dt><dd><${Usd} usd=${total.usd} /></dd></div>
      <div><dt>Calls</dt><dd>${count(total.calls)}</dd></div>
      <div><dt>Tokens</dt><dd>${count(total.tokens)}</dd></div>
    </dl>
    ${
      total.calls === 0
        ? html`<section class="card">
            <${Empty} title=${days === 1 ? 'No calls today' : 'No calls in this period'}>
              <p>
                Choose a longer period, or make a call in the <a href="#/playground">playground</a>. A call counts once its
                cost is known, usually within a minute.
              </p>
            <//>
          </section>`
        : html`<${ByDay} usage=${usage} days=${days} /><${ByModel} usage=${usage} />`
    }
  `;
}

/** @param {{ usage: Usage, days: number }} props */
function ByDay({ usage, days }) {
  const [measure, setMeasure] = useState(/** @type {'usd' | 'calls' | 'tokens'} */ ('usd'));
  const known = new Map(usage.days.map((each) => [each.day, each]));
  const all = lastDays(days, usage.to).map((day) => known.get(day) ?? { day, usd: '0', calls: 0, tokens: 0 });
  return html`
    <section class="card" aria-labelledby="by-day">
      <div class="card-head">
        <h2 id="by-day">By day</h2>
        <${Segmented} label="Shown by day" options=${measures} value=${measure} onPick=${setMeasure} />
      </div>
      <${DayChart} days=${all} measure=${measure} />
      <details>
        <summary>Show as a table</summary>
        <div class="scroll" tabindex="0" role="region" aria-label="Usage by day">
          <table>
            <caption class="unseen">Usage by day, newest first; days without calls are left out</caption>
            <thead>
              <tr>
                <th scope="col">Day</th>
                <th scope="col" class="num money">Spent</th>
                <th scope="col" class="num">Calls</th>
                <th scope="col" class="num">Tokens</th>
              </tr>
            </thead>
            <tbody>
              ${usage.days.toReversed().map(
                ({ day, usd, calls, tokens }) => html`<tr key=${day}>
                  <th scope="row">${dayName(day)}</th>
                  <td class="num"><${Usd} usd=${usd} /></td>
                  <td class="num">${count(calls)}</td>
                  <td class="num">${count(tokens)}</td>
                </tr>`,
              )}
            </tbody>
          </table>
        </div>
      </details>
    </section>
  `;
}

/** @param {{ usage: Usage }} props */
function ByModel({ usage: { models, total } }) {
  const whole = toNano(total.usd);
  return html`
    <section class="card" aria-labelledby="by-model">
      <h2 id="by-model">By model</h2>
      <table class="by-model">
        <caption class="unseen">Usage by model, highest spend first</caption>
        <thead>
          <tr>
            <th scope="col">Model</th>
            <th scope="col" class="num money">Spent</th>
            <th scope="col" class="num narrow-hidden">Calls</th>
            <th scope="col" class="num narrow-hidden">Tokens</th>
          </tr>
        </thead>
        <tbody>
          ${models.map(({ model, name, usd, calls, tokens }) => {
            const share = shareOf(toNano(usd), whole);
            return html`<tr key=${model}>
              <th scope="row">
                <bdi>${name}</bdi>
                <span class="soft small id"><bdi>${model}</bdi></span>
                <${Bar} used=${share} />
              </th>
              <td class="num">
                <${Usd} usd=${usd} />
                <span class="soft small under share">${Math.round(share * 100)} %</span>
              </td>
              <td class="num narrow-hidden">${count(calls)}</td>
              <td class="num narrow-hidden">${count(tokens)}</td>
            </tr>`;
          })}
        </tbody>
      </table>
    </section>
  `;
}
