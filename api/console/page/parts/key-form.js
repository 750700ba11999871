import { useId, useState } from '/console/vendor/preact-hooks.js';
import { fieldValue, html } from '../lib/html.js';
import { ProblemNotice } from './problem-notice.js';

/** @typedef {{ usd: string, reset: string } | null} LimitGiven */
/** @typedef {{ label: string, limit: LimitGiven }} KeyGiven */

const resets = [
  ['daily', 'a day (from 00:00 UTC)'],
  ['weekly', 'a week (from Monday)'],
  ['monthly', 'a month'],
];

/**
 * A key's label and spending limit. What may stand in them the gateway decides, and says.
 *
 * @param {{
 *   start: KeyGiven,
 *   action: string,
 *   onCancel: () => void,
 *   onGiven: (given: KeyGiven) => Promise<import('../client/problem.js').Problem | null>,
 * }} props
 */
export function KeyForm({ start, action, onCancel, onGiven }) {
  const id = useId();
  const [label, setLabel] = useState(start.label);
  const [limited, setLimited] = useState(start.limit !== null);
  const [usd, setUsd] = useState(start.limit?.usd ?? '');
  const [reset, setReset] = useState(start.limit?.reset ?? 'monthly');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(/** @type {import('../client/problem.js').Problem | null} */ (null));

  async function submit(/** @type {Event} */ event) {
    event.preventDefault();
    setBusy(true);
    const refused = await onGiven({
      label: label.trim(),
      limit: limited ? { usd: usd.trim(), reset } : null,
    });
    setBusy(false);
    setProblem(refused);
  }

  return html`
    <form onSubmit=${submit}>
      <div class="field">
        <label for=${`${id}-label`}>Label</label>
        <input
          id=${`${id}-label`}
          value=${label}
          required
          autofocus
          autocomplete="off"
          onInput=${(/** @type {Event} */ event) => setLabel(fieldValue(event))}
          aria-describedby=${`${id}-hint`}
        />
        <p class="hint" id=${`${id}-hint`}>What it is for, in one line. It shows in lists; it is no secret.</p>
      </div>
      <fieldset class="field">
        <legend>Spending</legend>
        <label class="choice">
          <input type="radio" name=${`${id}-limited`} checked=${!limited} onChange=${() => setLimited(false)} />
          <span>No limit<span class="hint">It can spend the whole balance, and manage the agent's keys.</span></span>
        </label>
        <label class="choice">
          <input type="radio" name=${`${id}-limited`} checked=${limited} onChange=${() => setLimited(true)} />
          <span>A limit<span class="hint">It can spend so much in each period, and cannot manage keys.</span></span>
        </label>
        ${
          limited &&
          html`<div class="limit-fields">
            <div>
              <label for=${`${id}-usd`}>US dollars</label>
              <input id=${`${id}-usd`} class="num" value=${usd} inputmode="decimal" placeholder="25.00" required autocomplete="off" onInput=${(/** @type {Event} */ event) => setUsd(fieldValue(event))} />
            </div>
            <div>
              <label for=${`${id}-reset`}>Period</label>
              <select id=${`${id}-reset`} value=${reset} onChange=${(/** @type {Event} */ event) => setReset(fieldValue(event))}>
                ${resets.map(([value, name]) => html`<option key=${value} value=${value}>${name}</option>`)}
              </select>
            </div>
          </div>`
        }
      </fieldset>
      <${ProblemNotice} problem=${problem} />
      <div class="dialog-actions">
        <button type="button" class="button" onClick=${onCancel}>Cancel</button>
        <button type="submit" class="button primary" disabled=${busy}>${busy ? 'One moment…' : action}</button>
      </div>
    </form>
  `;
}
