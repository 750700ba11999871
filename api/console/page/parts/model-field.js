import { useLayoutEffect, useRef } from '/console/vendor/preact-hooks.js';
import { fieldValue, html } from '../lib/html.js';

/**
 * Any of the served models by its id, found by typing. A suffix may be put behind it, so it is no closed list.
 *
 * @template {{ id: string, name: string }} T
 * @param {{ models: readonly T[] | null, value: string, onPick: (id: string) => void, describe: (model: T) => string }} props `null`: they are on their way.
 */
export function ModelField({ models, value, onPick, describe }) {
  const known = models ?? [];
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const typed = useRef(value);
  // The list's first model, put into the field while somebody is in it, would stand in front of what is typed next.
  useLayoutEffect(() => {
    if (value === typed.current) return;
    typed.current = value;
    if (document.activeElement === field.current) field.current?.select();
  }, [value]);
  const model =
    known.find(({ id }) => id === value) ?? known.find(({ id }) => id === value.replace(/:\w+$/, ''));
  const hint = () => {
    if (models === null) return 'The list of models is on its way…';
    return model === undefined ? 'No listed model has this id.' : describe(model);
  };
  return html`
    <div class="field grow">
      <label for="model">Model</label>
      <input
        id="model"
        ref=${field}
        list="models"
        value=${value}
        required
        autocomplete="off"
        autocapitalize="off"
        spellcheck=${false}
        onInput=${(/** @type {Event} */ event) => {
          typed.current = fieldValue(event);
          onPick(typed.current);
        }}
        onFocus=${(/** @type {FocusEvent & { currentTarget: HTMLInputElement }} */ event) => event.currentTarget.select()}
        aria-describedby="model-hint"
      />
      <datalist id="models">
        ${known.map(({ id, name }) => html`<option key=${id} value=${id}>${name}</option>`)}
      </datalist>
      <p class="hint" id="model-hint">${hint()}</p>
    </div>
  `;
}
