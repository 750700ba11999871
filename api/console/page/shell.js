import { useEffect, useRef } from '/console/vendor/preact-hooks.js';
import { useGateway } from './client/gateway.js';
import { useBalance } from './client/use-resource.js';
import { html } from './lib/html.js';
import { usePage } from './lib/use-page.js';
import { Brand } from './parts/brand.js';
import { Icon } from './parts/icon.js';
import { KeySecret } from './parts/key-secret.js';
import { BalanceView } from './views/balance.js';
import { CallsView } from './views/calls.js';
import { ImagesView } from './views/images.js';
import { KeysView } from './views/keys.js';
import { LimitsView } from './views/limits.js';
import { MarketView } from './views/market.js';
import { PlaygroundView } from './views/playground.js';
import { UsageView } from './views/usage.js';
import { VideosView } from './views/videos.js';

const pages = [
  { id: 'balance', title: 'Balance', View: BalanceView },
  { id: 'usage', title: 'Usage', View: UsageView },
  { id: 'calls', title: 'Calls', View: CallsView },
  { id: 'keys', title: 'Keys', View: KeysView },
  { id: 'limits', title: 'Limits', View: LimitsView },
  { id: 'market', title: 'Market', View: MarketView },
  { id: 'playground', title: 'Playground', View: PlaygroundView },
];
/** Reached from the playground, by its tabs. */
const playPages = [
  { id: 'pictures', title: 'Images', View: ImagesView },
  { id: 'videos', title: 'Videos', View: VideosView },
];
/** As many letters of a key as the gateway itself shows of it. */
const PREFIX_LETTERS = 12;

/** What stands around every page. */
export function Shell() {
  const named = usePage();
  const played = playPages.find(({ id }) => id === named);
  const page = played ?? pages.find(({ id }) => id === named) ?? pages[0];
  const marked = played === undefined ? page?.id : 'playground';
  const opened = useRef(page);
  useEffect(() => {
    document.title = `${page?.title} · Faregate`;
    if (opened.current === page) return;
    opened.current = page;
    scrollTo(0, 0);
    document.querySelector('h1')?.focus({ preventScroll: true });
  }, [page]);
  if (page === undefined) return null;

  const toMain = (/** @type {Event} */ event) => {
    event.preventDefault();
    document.querySelector('main')?.focus();
  };
  return html`
    <a class="skip" href="#main" onClick=${toMain}>Skip to the page</a>
    <div class="shell">
      <header class="top">
        <${Brand} />
        <${Identity} />
      </header>
      <nav class="nav" aria-label="Pages">
        <ul>
          ${pages.map(
            ({ id, title }) => html`<li key=${id}>
              <a href=${`#/${id}`} aria-current=${id !== marked ? undefined : played === undefined ? 'page' : 'true'}>
                <${Icon} name=${id} /><span>${title}</span>
              </a>
            </li>`,
          )}
        </ul>
      </nav>
      <main id="main" tabindex="-1" key=${page.id}><${page.View} /></main>
    </div>
    <${KeySecret} />
  `;
}

/** Whose money this is, by which key, and the way out. */
function Identity() {
  const { key, signOut, conversation } = useGateway();
  const { value } = useBalance();
  const forget = () => {
    conversation.stop();
    signOut();
  };
  return html`
    <div class="identity">
      <p>
        <strong><bdi>${value?.agent.name ?? '…'}</bdi></strong>
        <code>${key.slice(0, PREFIX_LETTERS)}…</code>
      </p>
      <button type="button" class="button quiet" onClick=${forget}><${Icon} name="leave" />Forget key</button>
    </div>
  `;
}
