import { render } from '/console/vendor/preact.js';
import { useCallback, useMemo, useState } from '/console/vendor/preact-hooks.js';
import { createGateway, GatewayContext } from './client/gateway.js';
import { forgetKey, keepKey, keptKey } from './client/tab-storage.js';
import { html } from './lib/html.js';
import { usePage } from './lib/use-page.js';
import { Shell } from './shell.js';
import { PublicMarket } from './views/public-market.js';
import { SignIn } from './views/sign-in.js';

/** With a key the pages, without one the form for it, or the page that is everybody's. */
function App() {
  const [key, setKey] = useState(keptKey);
  const [message, setMessage] = useState('');
  const page = usePage();

  const signOut = useCallback((/** @type {string} */ of, why = '') => {
    // A late answer to a key that was forgotten says nothing of the next one.
    if (keptKey() !== of) return;
    forgetKey();
    setMessage(why);
    setKey(null);
  }, []);
  const gateway = useMemo(
    () => (key === null ? null : createGateway(key, (why) => signOut(key, why))),
    [key, signOut],
  );

  if (gateway === null) {
    if (page === 'market') return html`<${PublicMarket} />`;
    const signIn = (/** @type {string} */ given) => {
      keepKey(given);
      setMessage('');
      setKey(given);
    };
    return html`<${SignIn} message=${message} onKey=${signIn} />`;
  }
  return html`<${GatewayContext.Provider} value=${gateway}><${Shell} /><//>`;
}

const root = document.querySelector('#root');
if (root !== null) {
  root.replaceChildren();
  render(html`<${App} />`, root);
}
