import { useEffect, useRef, useState } from '/console/vendor/preact-hooks.js';
import { readV1 } from '../client/ask.js';
import { fieldValue, html } from '../lib/html.js';
import { Brand } from '../parts/brand.js';
import { Notice } from '../parts/notice.js';
import { ProblemNotice } from '../parts/problem-notice.js';

/** Letters that a header can carry: whatever else was pasted is no key. */
const PRINTABLE = /^[\x21-\x7e]+$/;

/** @param {{ message: string, onKey: (key: string) => void }} props `message`: why the last key is no good any more. */
export function SignIn({ message, onKey }) {
  const [typed, setTyped] = useState('');
  const [shown, setShown] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(/** @type {import('../client/problem.js').Problem | null} */ (null));
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => {
    document.title = 'Sign in · Faregate';
    field.current?.focus();
  }, []);

  async function open(/** @type {Event} */ event) {
    event.preventDefault();
    const key = typed.trim();
    if (!PRINTABLE.test(key)) {
      const why =
        key === '' ? 'Paste a key first.' : 'This is no key: a key is one word of letters and digits.';
      setProblem({ kind: 'refused', message: why, code: null, waitMs: 0 });
      field.current?.focus();
      return;
    }
    setBusy(true);
    const result = await readV1(key, '/balance');
    setBusy(false);
    if (result.ok) {
      onKey(key);
      return;
    }
    setProblem(result.problem);
    field.current?.focus();
  }

  return html`
    <main class="sign-in">
      <${Brand} />
      <h1>Open the console</h1>
      <p class="soft">
        See your balance, usage and calls, manage keys, and try a model. The console does what your key may do, and no
        more.
      </p>
      ${message !== '' && html`<div role="alert"><${Notice} tone="warn"><p>${message}</p><//></div>`}
      <${ProblemNotice} problem=${problem} />
      <form onSubmit=${open}>
        <div class="field">
          <label for="key">API key</label>
          <div class="copy-field">
            <input
              id="key"
              ref=${field}
              class="mono"
              type=${shown ? 'text' : 'password'}
              value=${typed}
              onInput=${(/** @type {Event} */ event) => setTyped(fieldValue(event))}
              placeholder="fg_…"
              autocomplete="off"
              autocapitalize="off"
              spellcheck=${false}
              aria-describedby="key-hint"
            />
            <button type="button" class="button" aria-pressed=${shown} onClick=${() => setShown(!shown)}>Show</button>
          </div>
          <p class="hint" id="key-hint">It is kept for this tab only and sent to this gateway only.</p>
        </div>
        <button type="submit" class="button primary wide" disabled=${busy}>${busy ? 'Looking…' : 'Open'}</button>
      </form>
      <p class="soft small">
        No key yet? Your operator makes the first one. A gateway that you have started yourself has put one into${' '}
        <code>.faregate/demo.json</code>. The <a href="#/market">market of credit</a> is open to everybody.
      </p>
    </main>
  `;
}
