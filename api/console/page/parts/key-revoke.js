import { useState } from '/console/vendor/preact-hooks.js';
import { useGateway } from '../client/gateway.js';
import { html } from '../lib/html.js';
import { Dialog } from './dialog.js';
import { Notice } from './notice.js';
import { ProblemNotice } from './problem-notice.js';

/** @param {{ record: import('../client/records.d.ts').Key, onClose: () => void, onDone: (what: string) => void }} props */
export function RevokeKey({ record, onClose, onDone }) {
  const { tool } = useGateway();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(/** @type {import('../client/problem.js').Problem | null} */ (null));

  async function revoke() {
    setBusy(true);
    const result = await tool('revoke_key', { key_id: record.id });
    setBusy(false);
    if (result.ok) onDone(`The key “${record.label}” is revoked.`);
    else setProblem(result.problem);
  }

  return html`
    <${Dialog} title="Revoke this key?" onClose=${onClose}>
      <p><strong><bdi>${record.label}</bdi></strong> <code>${record.prefix}…</code></p>
      <p>Its next call is refused; calls that run already finish. It cannot be brought back.</p>
      ${
        record.this_key &&
        html`<${Notice} tone="warn"><p>The console is open with this key: revoking it closes the console.</p><//>`
      }
      <${ProblemNotice} problem=${problem} />
      <div class="dialog-actions">
        <button type="button" class="button" autofocus onClick=${onClose}>Keep it</button>
        <button type="button" class="button danger solid" disabled=${busy} onClick=${revoke}>Revoke key</button>
      </div>
    <//>
  `;
}
