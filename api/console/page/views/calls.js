import { useState } from '/console/vendor/preact-hooks.js';
import { useCalls } from '../client/use-calls.js';
import { useKeys } from '../client/use-resource.js';
import { fieldValue, html } from '../lib/html.js';
import { count, shortCount } from '../lib/numbers.js';
import { duration, longTime, shortTime } from '../lib/time.js';
import { CallDetails } from '../parts/call-details.js';
import { Empty } from '../parts/notice.js';
import { Outcome, outcomes } from '../parts/outcome.js';
import { PageHead } from '../parts/page-head.js';
import { ProblemNotice } from '../parts/problem-notice.js';
import { ResourceView } from '../parts/resource-view.js';
import { Usd } from '../parts/usd.js';

/** @typedef {import('../client/records.d.ts').Call} Call */
/** @typedef {{ outcome: string, model: string }} Filter */

/** @type {Filter} */
const EVERYTHING = { outcome: '', model: '' };

export function CallsView() {
  const [keyId, setKeyId] = useState(/** @type {number | null} */ (null));
  const [filter, setFilter] = useState(EVERYTHING);
  const [opened, setOpened] = useState(/** @type {number | null} */ (null));
  const { newest, known, older, loadOlder } = useCalls(keyId);
  const shown = known.calls.filter((call) => passes(call, filter));
  const details = known.calls.find(({ id }) => id === opened);
  const filtered = filter.outcome !== '' || filter.model !== '';
  return html`
    <${PageHead} title="Calls" about="Every call of the last 90 days, newest first." resource=${newest} />
    <${Filters} keyId=${keyId} onKey=${setKeyId} filter=${filter} onFilter=${setFilter} />
    <${ResourceView} resource=${newest}>
      ${() => html`
        <section class="card flush" aria-label="Calls">
          ${
            shown.length > 0
              ? html`<${OpenCallMap} calls=${shown} onOpen=${setOpened} />`
              : html`<${NoCalls} filtered=${filtered} all=${known.calls.length} />`
          }
        </section>
        <div class="more">
          <p class="soft small" role="status">
            ${
              filtered
                ? `${count(shown.length)} of the ${count(known.calls.length)} calls that are loaded`
                : known.calls.length > 0 && `${count(known.calls.length)} calls`
            }
          </p>
          <${ProblemNotice} problem=${older.problem} />
          ${
            known.next !== null &&
            html`<button type="button" class="button" disabled=${older.loading} onClick=${loadOlder}>
              ${older.loading ? 'Loading…' : 'Load older calls'}
            </button>`
          }
        </div>
      `}
    <//>
    ${details !== undefined && html`<${CallDetails} call=${details} onClose=${() => setOpened(null)} />`}
  `;
}

/** @param {Call} call @param {Filter} filter */
function passes({ outcome, model, model_name: name }, filter) {
  if (filter.outcome !== '' && outcome !== filter.outcome) return false;
  const wanted = filter.model.trim().toLowerCase();
  return model.toLowerCase().includes(wanted) || name.toLowerCase().includes(wanted);
}

/**
 * The key is asked of the gateway; outcome and model choose among the calls that are loaded.
 *
 * @param {{ keyId: number | null, onKey: (id: number | null) => void, filter: Filter, onFilter: (filter: Filter) => void }} props
 */
function Filters({ keyId, onKey, filter, onFilter }) {
  const keys = useKeys();
  const pickKey = (/** @type {Event} */ event) =>
    onKey(fieldValue(event) === '' ? null : Number(fieldValue(event)));
  return html`
    <form class="tools" role="search" aria-label="Calls" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <label class="inline-field">
        <span>Key</span>
        <select value=${keyId ?? ''} onChange=${pickKey}>
          <option value="">All keys</option>
          ${keys.value?.keys.map(({ id, label, prefix }) => html`<option key=${id} value=${id}>${label} (${prefix}…)</option>`)}
        </select>
      </label>
      <label class="inline-field">
        <span>Outcome</span>
        <select value=${filter.outcome} onChange=${(/** @type {Event} */ event) => onFilter({ ...filter, outcome: fieldValue(event) })}>
          <option value="">All outcomes</option>
          ${Object.entries(outcomes).map(([id, [name]]) => html`<option key=${id} value=${id}>${name}</option>`)}
        </select>
      </label>
      <label class="inline-field grow">
        <span>Model</span>
        <input
          type="search"
          value=${filter.model}
          placeholder="Part of a name"
          autocomplete="off"
          spellcheck=${false}
          onInput=${(/** @type {Event} */ event) => onFilter({ ...filter, model: fieldValue(event) })}
        />
      </label>
    </form>
  `;
}

/** @param {{ calls: readonly Call[], onOpen: (id: number) => void }} props */
const OpenCallMap = ({ calls, onOpen }) => html`
  <table class="calls">
    <caption class="unseen">Calls, newest first</caption>
    <thead>
      <tr>
        <th scope="col">Call</th>
        <th scope="col">Outcome</th>
        <th scope="col" class="mid-hidden">Key</th>
        <th scope="col" class="num wide-cell">Tokens</th>
        <th scope="col" class="num wide-cell">Took</th>
        <th scope="col" class="num money mid-hidden">Held</th>
        <th scope="col" class="num money">Charged</th>
      </tr>
    </thead>
    <tbody>
      ${calls.map(
        (call) => html`<tr key=${call.id}>
          <th scope="row">
            <button type="button" class="link row-link" aria-haspopup="dialog" onClick=${() => onOpen(call.id)}>
              <bdi>${call.model_name}</bdi>
            </button>
            <time class="soft small" datetime=${call.started_at} title=${longTime(call.started_at)}>
              ${shortTime(call.started_at)}
            </time>
          </th>
          <td>
            <${Outcome} outcome=${call.outcome} />
            ${call.error_code !== null && html`<span class="soft small under narrow-hidden">${call.error_code}</span>`}
          </td>
          <td class="mid-hidden clip"><bdi>${call.key.label}</bdi></td>
          <td class="num wide-cell">
            ${shortCount(call.tokens.prompt)} <span class="soft">→</span> ${shortCount(call.tokens.completion)}
          </td>
          <td class="num wide-cell">${call.outcome === 'running' ? '…' : duration(call.duration_ms)}</td>
          <td class="num soft mid-hidden"><${Usd} usd=${call.reserved_usd} /></td>
          <td class="num"><${Usd} usd=${call.charge_usd} /></td>
        </tr>`,
      )}
    </tbody>
  </table>
`;

/** @param {{ filtered: boolean, all: number }} props */
const NoCalls = ({ filtered, all }) =>
  filtered && all > 0
    ? html`<${Empty} title="No call matches"><p>Widen the filter, or load older calls.</p><//>`
    : html`<${Empty} title="No calls yet">
        <p>Make the first one in the <a href="#/playground">playground</a>, or with your SDK at <code>${location.origin}/v1</code>.</p>
      <//>`;
