import { fieldValue } from '../lib/field-value.js';
import { html } from '../lib/html.js';

/** Images for a model to look at, by their links. @param {{ value: string, onInput: (text: string) => void }} props */
export const ReferenceField = ({ value, onInput }) => html`
  <div class="field">
    <label for="references">Images to look at</label>
    <textarea
      id="references"
      rows="2"
      spellcheck=${false}
      value=${value}
      onInput=${(/** @type {Event} */ event) => onInput(fieldValue(event))}
      aria-describedby="references-hint"
    ></textarea>
    <p class="hint" id="references-hint">https links, one a line. They may be left out.</p>
  </div>
`;

/** @param {string} text */
export const referencesIn = (text) =>
  text
    .split(/\s+/)
    .filter((link) => link !== '')
    .map((url) => ({ type: 'image_url', image_url: { url } }));
