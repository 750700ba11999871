import { useLayoutEffect } from '/console/vendor/preact-hooks.js';
import { useGateway } from '../client/gateway.js';
import { html } from '../lib/html.js';
import { change, useStore } from '../lib/store.js';
import { CopyField } from './copy-field.js';
import { Dialog } from './dialog.js';
import { Notice } from './notice.js';

/** The one moment at which a new key can be read: it stays over every page, and nothing but its button closes it. */
export function KeySecret() {
  const { newKey } = useGateway();
  const { shown } = useStore(newKey);
  // Not after the next paint: what stands on the page and what is asked are one.
  useLayoutEffect(() => {
    if (shown === null) return undefined;
    // A browser asks before it leaves.
    const ask = (/** @type {Event} */ event) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [shown]);
  if (shown === null) return null;
  const close = () => change(newKey, { shown: null });
  return html`
    <${Dialog} title="Your new key" onClose=${close} locked>
      <p>The key <strong><bdi>${shown.label}</bdi></strong> works from now on.</p>
      <${CopyField} label="Key" text=${shown.key} />
      <${Notice} tone="warn"><p>It is shown this once. Nobody can show it again, so store it before you close this.</p><//>
      <div class="dialog-actions">
        <button type="button" class="button primary" onClick=${close}>I have stored it</button>
      </div>
    <//>
  `;
}
