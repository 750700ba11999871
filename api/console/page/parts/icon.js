import { html } from '../lib/html.js';

/** Lines on a square of 24. */
const lines = {
  balance:
    'M3 7.5A2.5 2.5 0 0 1 5.5 5H17v3M3 7.5V17a2.5 2.5 0 0 0 2.5 2.5H21V8H5.5A2.5 2.5 0 0 1 3 7.5ZM16.5 13.75h.01',
  usage: 'M4 20h16M7 16v-4M12 16V5M17 16V9',
  calls: 'M4 6h16M4 12h16M4 18h10',
  keys: 'M14.5 9.5a4.5 4.5 0 1 0-4.2 4.5l1.7-1.7h2.2v-2.2l.3-.6ZM14 12l6 6v2.5h-3V18h-2v-2M8.5 8.5h.01',
  limits: 'M4 17a8 8 0 1 1 16 0M12 17l4-5M4 20h16',
  market: 'M7 4v3M7 15v5M4.5 7h5v8h-5zM17 3v5M17 14v4M14.5 8h5v6h-5z',
  playground: 'M4 5h16v11H9l-5 4V5ZM8 9h8M8 12.5h5',
  refresh: 'M20 11a8 8 0 0 0-14.3-4L4 9M4 4v5h5M4 13a8 8 0 0 0 14.3 4L20 15M20 20v-5h-5',
  leave: 'M10 4H5v16h5M14 8l4 4-4 4M18 12H9',
  plus: 'M12 5v14M5 12h14',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  close: 'M6 6l12 12M18 6L6 18',
  alert: 'M12 4l9 16H3zM12 10v4M12 17h.01',
  info: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM12 11v5M12 8h.01',
  play: 'M8 5.5l10.5 6.5L8 18.5z',
  more: 'M9 6l6 6-6 6',
};

/** Decoration: what it means stands beside it in words. @param {{ name: keyof typeof lines }} props */
export const Icon = ({ name }) => html`
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d=${lines[name]} /></svg>
`;
