import { html } from '../lib/html.js';

/**
 * A bar for the eye, of shares from 0 to 1; the numbers stand beside it. What is held is hatched, as money that may
 * come back.
 *
 * @param {{ used: number, held?: number, tone?: 'accent' | 'warn' | 'bad' }} props
 */
export const Bar = ({ used, held = 0, tone = 'accent' }) => html`
  <div class="bar bar-${tone}" aria-hidden="true">
    <i style=${{ '--share': used }}></i>
    ${held > 0 && html`<i class="bar-held" style=${{ '--share': held }}></i>`}
  </div>
`;
