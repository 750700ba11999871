import { html } from '../lib/html.js';

const tabs = [
  ['playground', 'Text'],
  ['pictures', 'Images'],
  ['videos', 'Videos'],
];

/** What can be tried: pages beside each other. @param {{ current: 'playground' | 'pictures' | 'videos' }} props */
export const PlayTabs = ({ current }) => html`
  <nav class="tabs" aria-label="What to try">
    ${tabs.map(
      ([id, title]) =>
        html`<a key=${id} href=${`#/${id}`} aria-current=${id === current ? 'page' : undefined}>${title}</a>`,
    )}
  </nav>
`;
