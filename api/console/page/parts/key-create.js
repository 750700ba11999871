import { useState } from '/console/vendor/preact-hooks.js';
import { useGateway } from '../client/gateway.js';
import { html } from '../lib/html.js';
import { CopyField } from './copy-field.js';
import { Dialog } from './dialog.js';
import { KeyForm } from './key-form.js';
import { Notice } from './notice.js';

/** @typedef {import('../client/records.d.ts').CreatedKey} CreatedKey */

/** @param {{ onClose: () => void, onCreated: () => void }} props */
export function CreateKey({ onClose, onCreated }) {
  const { tool } = useGateway();
  const [created, setCreated] = useState(/** @type {CreatedKey | null} */ (null));

  async function create(/** @type {import('./key-form.js').KeyGiven} */ { label, limit }) {
    /** @type {import('../client/problem.js').Result<CreatedKey>} */
    const result = await tool('create_key', { label, ...(limit === null ? {} : { spending_limit: limit }) });
    // Also where no answer came: the key may be there.
    onCreated();
    if (!result.ok) return result.problem;
    setCreated(result.value);
    return null;
  }

  if (created !== null) return html`<${Secret} key="secret" created=${created} onClose=${onClose} />`;
  return html`
    <${Dialog} key="form" title="New key" onClose=${onClose}>
      <${KeyForm} start=${{ label: '', limit: null }} action="Create key" onCancel=${onClose} onGiven=${create} />
    <//>
  `;
}

/** The one moment at which the key can be read: nothing but its button closes it. @param {{ created: CreatedKey, onClose: () => void }} props */
const Secret = ({ created, onClose }) => html`
  <${Dialog} title="Your new key" onClose=${onClose} locked>
    <p>The key <strong><bdi>${created.label}</bdi></strong> works from now on.</p>
    <${CopyField} label="Key" text=${created.key} />
    <${Notice} tone="warn"><p>It is shown this once. Nobody can show it again, so store it before you close this.</p><//>
    <div class="dialog-actions">
      <button type="button" class="button primary" onClick=${onClose}>I have stored it</button>
    </div>
  <//>
`;
