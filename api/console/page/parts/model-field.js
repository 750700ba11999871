import { fieldValue } from '../lib/field-value.js';
import { html } from '../lib/html.js';
import { count } from '../lib/numbers.js';

/** @typedef {import('../client/records.d.ts').Model} Model */

const MILLION_DIGITS = 6;

/**
 * Any of the served models by its id, found by typing. A suffix may be put behind it, so it is no closed list.
 *
 * @param {{ models: readonly Model[], value: string, onPick: (id: string) => void }} props
 */
export function ModelField({ models, value, onPick }) {
  const model =
    models.find(({ id }) => id === value) ?? models.find(({ id }) => id === value.replace(/:\w+$/, ''));
  return html`
    <div class="field grow">
      <label for="model">Model</label>
      <input
        id="model"
        list="models"
        value=${value}
        required
        autocomplete="off"
        autocapitalize="off"
        spellcheck=${false}
        onInput=${(/** @type {Event} */ event) => onPick(fieldValue(event))}
        onFocus=${(/** @type {FocusEvent & { currentTarget: HTMLInputElement }} */ event) => event.currentTarget.select()}
        aria-describedby="model-hint"
      />
      <datalist id="models">
        ${models.map(({ id, name }) => html`<option key=${id} value=${id}>${name}</option>`)}
      </datalist>
      <p class="hint" id="model-hint">${hintOf(models, model)}</p>
    </div>
  `;
}

/** @param {readonly Model[]} models @param {Model | undefined} model */
function hintOf(models, model) {
  if (model !== undefined) return pricesOf(model);
  return models.length === 0 ? 'The list of models is on its way…' : 'No listed model has this id.';
}

/** @param {Model} model */
function pricesOf({ pricing, context_length: context }) {
  const { prompt, completion } = pricing;
  return `$${perMillion(prompt)} in, $${perMillion(completion)} out a million tokens · ${count(context)} tokens of context`;
}

/** Moves the point of a price of one token, digit by digit. @param {string} usd */
function perMillion(usd) {
  const [whole = '0', fraction = ''] = usd.split('.');
  const digits = fraction.padEnd(MILLION_DIGITS, '0');
  const moved = `${whole}${digits.slice(0, MILLION_DIGITS)}`.replace(/^0+(?=\d)/, '');
  const rest = digits.slice(MILLION_DIGITS).replace(/0+$/, '');
  return `${moved}${rest === '' ? '' : `.${rest.padEnd(2, '0')}`}`;
}
