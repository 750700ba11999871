import { fieldValue } from '../lib/field-value.js';
import { html } from '../lib/html.js';

/**
 * @param {{ label: string, hint: string, value: string, onInput: (text: string) => void, lettersMax?: number }} props
 */
export const PromptField = ({ label, hint, value, onInput, lettersMax }) => html`
  <div class="field">
    <label for="prompt">${label}</label>
    <textarea
      id="prompt"
      rows="3"
      required
      maxlength=${lettersMax}
      value=${value}
      onInput=${(/** @type {Event} */ event) => onInput(fieldValue(event))}
      aria-describedby="prompt-hint"
    ></textarea>
    <p class="hint" id="prompt-hint">${hint}</p>
  </div>
`;
