import { useId } from '/console/vendor/preact-hooks.js';
import { fieldValue, html } from '../lib/html.js';

/**
 * One of the values that a model takes. `unset` is what stands for none of them, where one may be left out.
 *
 * @template {string | number | boolean} T
 * @param {{ label: string, values: readonly T[], value: T | null, unset?: string, show?: (value: T) => string, onPick: (value: T | null) => void }} props
 */
export function ChoiceField({ label, values, value, unset, show = String, onPick }) {
  const id = useId();
  // By its place: a value need not be a text, and an empty text may be one.
  const pick = (/** @type {Event} */ event) =>
    onPick(fieldValue(event) === '' ? null : (values[Number(fieldValue(event))] ?? null));
  const picked = value === null ? -1 : values.indexOf(value);
  return html`
    <div class="field">
      <label for=${id}>${label}</label>
      <select id=${id} value=${picked === -1 ? '' : picked} onChange=${pick}>
        ${unset !== undefined && html`<option value="">${unset}</option>`}
        ${values.map((each, index) => html`<option key=${index} value=${index}>${show(each)}</option>`)}
      </select>
    </div>
  `;
}
