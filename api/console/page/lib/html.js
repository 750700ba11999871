import htm from '/console/vendor/htm.js';
import { h } from '/console/vendor/preact.js';

/**
 * Templates as the browser itself reads them. What is put into one becomes text or an attribute, never markup.
 *
 * @type {(strings: TemplateStringsArray, ...values: unknown[]) => import('/console/vendor/preact.js').VNode | import('/console/vendor/preact.js').VNode[]}
 */
export const html = htm.bind(h);

/** Returns the text of the field that an event came from. @param {Event} event */
export const fieldValue = ({ currentTarget }) =>
  /** @type {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} */ (currentTarget).value;
