import { html } from '../lib/html.js';
import { splitUsd } from '../lib/usd.js';

/**
 * An amount with every digit that it has: those behind the cents are smaller, and in a column each has its place.
 *
 * @param {{ usd: string }} props
 */
export function Usd({ usd }) {
  const { main, rest, fine } = splitUsd(usd);
  return html`<span class=${fine ? 'usd usd-fine' : 'usd'}>${main}<span class="usd-rest">${rest}</span></span>`;
}
