import { html } from '../lib/html.js';
import { Icon } from './icon.js';

/** @param {{ tone?: 'info' | 'warn' | 'bad', children?: unknown }} props */
export const Notice = ({ tone = 'info', children }) => html`
  <div class="notice notice-${tone}">
    <${Icon} name=${tone === 'info' ? 'info' : 'alert'} />
    <div>${children}</div>
  </div>
`;

/** Says why a list is still empty, and what fills it. @param {{ title: string, children?: unknown }} props */
export const Empty = ({ title, children }) => html`
  <div class="empty">
    <p class="empty-title">${title}</p>
    <div class="soft">${children}</div>
  </div>
`;
