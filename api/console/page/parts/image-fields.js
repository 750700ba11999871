import { html } from '../lib/html.js';
import { ChoiceField } from './choice-field.js';
import { NumberField } from './number-field.js';

/** @typedef {import('../client/records.d.ts').ImageParameter} ImageParameter */
/** @typedef {string | number | boolean} Value */

/** What the usual ones are called; another one by its own name. @type {Readonly<Record<string, string>>} */
const labels = {
  n: 'How many',
  aspect_ratio: 'Aspect ratio',
  output_format: 'Format',
  output_compression: 'Compression',
};

/**
 * A field for each thing that a model lets one say about its images. Whatever is left out, the model decides.
 *
 * @param {{ parameters: Readonly<Record<string, ImageParameter>>, values: Readonly<Record<string, Value>>, onPick: (name: string, value: Value | null) => void }} props
 */
export const ImageFields = ({ parameters, values, onPick }) => html`
  <div class="fields">
    ${Object.entries(parameters)
      .filter(hasField)
      .map(([name, parameter]) => {
        const label = labelOf(name);
        const value = values[name] ?? null;
        const pick = (/** @type {Value | null} */ picked) => onPick(name, picked);
        return parameter.type === 'enum'
          ? html`<${ChoiceField} key=${name} label=${label} values=${parameter.values} value=${value} unset="Automatic" onPick=${pick} />`
          : html`<${NumberField} key=${name} label=${label} min=${parameter.min} max=${parameter.max} value=${value} onPick=${pick} />`;
      })}
  </div>
`;

/** References are images and have a field of their own; how the answer comes is the page's business. */
const others = new Set(['input_references', 'stream', 'response_format']);

/** @param {[string, ImageParameter]} entry */
const hasField = ([name]) => !others.has(name);

/** @param {string} name */
function labelOf(name) {
  const words = name.replaceAll('_', ' ');
  return Object.hasOwn(labels, name) ? labels[name] : words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * Those of the values that a model takes: another one had been chosen before.
 *
 * @param {Readonly<Record<string, ImageParameter>>} parameters
 * @param {Readonly<Record<string, Value>>} values
 */
export const takenOf = (parameters, values) =>
  Object.fromEntries(
    Object.entries(values).filter(([name, value]) => {
      const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
      return parameter !== undefined && (parameter.type === 'range' || parameter.values.includes(value));
    }),
  );
