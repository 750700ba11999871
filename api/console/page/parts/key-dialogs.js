import { useState } from '/console/vendor/preact-hooks.js';
import { useGateway } from '../client/gateway.js';
import { html } from '../lib/html.js';
import { change } from '../lib/store.js';
import { Dialog } from './dialog.js';
import { KeyForm } from './key-form.js';
import { Notice } from './notice.js';
import { ProblemNotice } from './problem-notice.js';

/** @typedef {import('./key-form.js').LimitGiven} LimitGiven */

/** @param {{ record: import('../client/records.d.ts').Key, onClose: () => void, onDone: (what: string) => void }} props */
export function EditKey({ record, onClose, onDone }) {
  const { tool } = useGateway();
  const { spending_limit: limit } = record;
  const start = {
    label: record.label,
    limit: limit === null ? null : { usd: limit.limit_usd, reset: limit.reset },
  };

  async function save(/** @type {import('./key-form.js').KeyGiven} */ given) {
    // Only what was changed is sent: meanwhile somebody may have changed the rest.
    const changes = {
      ...(given.label === start.label ? {} : { label: given.label }),
      ...(sameLimit(given.limit, start.limit) ? {} : { spending_limit: given.limit }),
    };
    if (Object.keys(changes).length > 0) {
      const result = await tool('update_key', { key_id: record.id, ...changes });
      if (!result.ok) return result.problem;
    }
    onDone(`The key “${given.label}” was changed.`);
    return null;
  }

  return html`
    <${Dialog} title="Change key" onClose=${onClose}>
      <p class="soft"><code>${record.prefix}…</code> A limit counts what the key has already spent in its period.</p>
      ${
        record.this_key &&
        html`<p class="soft">The console is open with this key: with a limit, it can no longer manage keys.</p>`
      }
      <${KeyForm} start=${start} action="Save" onCancel=${onClose} onGiven=${save} />
    <//>
  `;
}

/** @param {LimitGiven} a @param {LimitGiven} b */
const sameLimit = (a, b) => a?.usd === b?.usd && a?.reset === b?.reset;

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

/** @typedef {import('../client/records.d.ts').CreatedKey} CreatedKey */

/** @param {{ onClose: () => void, onCreated: () => void }} props */
export function CreateKey({ onClose, onCreated }) {
  const { tool, newKey } = useGateway();

  async function create(/** @type {import('./key-form.js').KeyGiven} */ { label, limit }) {
    /** @type {import('../client/problem.js').Result<CreatedKey>} */
    const result = await tool('create_key', { label, ...(limit === null ? {} : { spending_limit: limit }) });
    // Also where no answer came: the key may be there.
    onCreated();
    if (!result.ok) return result.problem;
    change(newKey, { shown: result.value });
    onClose();
    return null;
  }

  return html`
    <${Dialog} title="New key" onClose=${onClose}>
      <${KeyForm} start=${{ label: '', limit: null }} action="Create key" onCancel=${onClose} onGiven=${create} />
    <//>
  `;
}
