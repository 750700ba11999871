import { html } from '../lib/html.js';

/** Where there is nothing yet: why, and what to do about it. @param {{ title: string, children?: unknown }} props */
export const Empty = ({ title, children }) => html`
  <div class="empty">
    <p class="empty-title">${title}</p>
    <div class="soft">${children}</div>
  </div>
`;
