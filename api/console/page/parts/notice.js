import { html } from '../lib/html.js';
import { Icon } from './icon.js';

/** @param {{ tone?: 'info' | 'warn' | 'bad', children?: unknown }} props */
export const Notice = ({ tone = 'info', children }) => html`
  <div class="notice notice-${tone}">
    <${Icon} name=${tone === 'info' ? 'info' : 'alert'} />
    <div>${children}</div>
  </div>
`;
