import { useGateway } from '../client/gateway.js';
import { html } from '../lib/html.js';
import { Dialog } from './dialog.js';
import { KeyForm } from './key-form.js';

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
