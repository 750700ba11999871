import { useId, useRef, useState } from '/console/vendor/preact-hooks.js';
import { html } from '../lib/html.js';
import { Icon } from './icon.js';

/** A text to take along. @param {{ label: string, text: string }} props */
export function CopyField({ label, text }) {
  const id = useId();
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [told, setTold] = useState('');
  async function copy() {
    field.current?.select();
    try {
      await navigator.clipboard.writeText(text);
      setTold('Copied.');
    } catch {
      // Without https a page has no clipboard.
      setTold('Selected: copy it with your keyboard or menu.');
    }
  }
  return html`
    <div class="field">
      <label for=${id}>${label}</label>
      <div class="copy-field">
        <input
          id=${id}
          ref=${field}
          class="mono"
          readonly
          value=${text}
          onFocus=${() => field.current?.select()}
          spellcheck=${false}
        />
        <button type="button" class="button" onClick=${copy}>
          <${Icon} name=${told === 'Copied.' ? 'check' : 'copy'} />Copy
        </button>
      </div>
      <p class="hint" role="status">${told}</p>
    </div>
  `;
}
