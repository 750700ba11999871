import { fieldValue, html } from '../lib/html.js';

/**
 * A text of several lines. Whatever else it is given is an attribute of its field.
 *
 * @param {{ id: string, label: string, hint: string, value: string, onInput: (text: string) => void } & Record<string, unknown>} props
 */
export const TextField = ({ id, label, hint, value, onInput, ...attributes }) => html`
  <div class="field">
    <label for=${id}>${label}</label>
    <textarea
      id=${id}
      rows="3"
      value=${value}
      onInput=${(/** @type {Event} */ event) => onInput(fieldValue(event))}
      aria-describedby=${`${id}-hint`}
      ...${attributes}
    ></textarea>
    <p class="hint" id=${`${id}-hint`}>${hint}</p>
  </div>
`;
