import htm from '/console/vendor/htm.js';
import { h } from '/console/vendor/preact.js';

/**
 * Templates as the browser itself reads them. What is put into one becomes text or an attribute, never markup.
 *
 * @type {(strings: TemplateStringsArray, ...values: unknown[]) => import('/console/vendor/preact.js').VNode | import('/console/vendor/preact.js').VNode[]}
 */
export const html = htm.bind(h);
