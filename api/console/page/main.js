import { render } from '/console/vendor/preact.js';
import { App } from './app.js';
import { html } from './lib/html.js';

const root = document.querySelector('#root');
if (root !== null) {
  root.replaceChildren();
  render(html`<${App} />`, root);
}
