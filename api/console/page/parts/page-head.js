import { html } from '../lib/html.js';
import { Icon } from './icon.js';

/**
 * The page's heading, which takes the focus when the page is opened, and what reads it anew.
 *
 * @param {{ title: string, about: string, resource?: { loading: boolean, reload: () => void }, children?: unknown }} props
 */
export const PageHead = ({ title, about, resource, children }) => html`
  <header class="page-head">
    <div>
      <h1 tabindex="-1">${title}</h1>
      <p class="soft">${about}</p>
    </div>
    <div class="page-actions">
      ${
        resource !== undefined &&
        html`<button
          type="button"
          class="button quiet"
          aria-label=${`Refresh ${title.toLowerCase()}`}
          aria-busy=${resource.loading}
          onClick=${resource.reload}
        >
          <${Icon} name="refresh" /><span class="wide-only">Refresh</span>
        </button>`
      }
      ${children}
    </div>
  </header>
`;
