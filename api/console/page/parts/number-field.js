import { useId } from '/console/vendor/preact-hooks.js';
import { fieldValue, html } from '../lib/html.js';

/**
 * A whole number within bounds, which may be left out.
 *
 * @param {{ label: string, min: number, max: number, value: number | null, onPick: (value: number | null) => void }} props
 */
export function NumberField({ label, min, max, value, onPick }) {
  const id = useId();
  const pick = (/** @type {Event} */ event) =>
    onPick(fieldValue(event) === '' ? null : Number(fieldValue(event)));
  return html`
    <div class="field">
      <label for=${id}>${label}</label>
      <input
        id=${id}
        type="number"
        step="1"
        min=${min}
        max=${max}
        value=${value ?? ''}
        placeholder=${`${min} to ${max}`}
        onInput=${pick}
      />
    </div>
  `;
}
