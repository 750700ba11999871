import { useEffect } from '/console/vendor/preact-hooks.js';
import { html } from '../lib/html.js';
import { Brand } from '../parts/brand.js';
import { MarketView } from './market.js';

/** The market as everybody sees it who has brought no key. */
export function PublicMarket() {
  useEffect(() => {
    document.title = 'Market · Faregate';
  }, []);
  return html`
    <div class="public">
      <header class="public-top">
        <${Brand} />
        <a class="button" href="#/balance">Open the console</a>
      </header>
      <main id="main" tabindex="-1"><${MarketView} /></main>
    </div>
  `;
}
