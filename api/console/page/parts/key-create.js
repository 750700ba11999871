import { useGateway } from '../client/gateway.js';
import { html } from '../lib/html.js';
import { change } from '../lib/store.js';
import { Dialog } from './dialog.js';
import { KeyForm } from './key-form.js';

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
