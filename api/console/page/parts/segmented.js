import { useId } from '/console/vendor/preact-hooks.js';
import { html } from '../lib/html.js';

/**
 * One of a few, side by side: radio buttons, so that arrow keys and screen readers know them.
 *
 * @template {string | number} T
 * @param {{ label: string, options: readonly (readonly [T, string])[], value: T | null, onPick: (value: T) => void }} props
 */
export function Segmented({ label, options, value, onPick }) {
  const name = useId();
  return html`
    <fieldset class="segmented">
      <legend class="unseen">${label}</legend>
      ${options.map(
        ([each, text]) => html`<label key=${each}>
          <input type="radio" name=${name} checked=${each === value} onChange=${() => onPick(each)} />
          <span>${text}</span>
        </label>`,
      )}
    </fieldset>
  `;
}
