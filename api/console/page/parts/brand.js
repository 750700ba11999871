import { html } from '../lib/html.js';

/** The name beside its mark: the way through between two posts. */
export const Brand = () => html`
  <p class="brand">
    <svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" />
      <path d="M8 8v16M24 8v16M12 16h8M16.5 12.5 20 16l-3.5 3.5" />
    </svg>
    Faregate
  </p>
`;
