import { useEffect, useId, useRef } from '/console/vendor/preact-hooks.js';
import { html } from '../lib/html.js';
import { Icon } from './icon.js';

/**
 * A window over the page: the browser itself keeps the focus inside, closes it on Escape and gives the focus back.
 *
 * @param {{ title: string, onClose: () => void, locked?: boolean, children?: unknown }} props `locked`: only what is in it closes it.
 */
export function Dialog({ title, onClose, locked = false, children }) {
  const id = useId();
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    const opener = document.activeElement;
    const shown = dialog.current;
    shown?.showModal();
    return () => {
      // As long as it is open nothing else takes the focus.
      shown?.close();
      // What opened it may be gone, as the row of a key that was revoked.
      if (opener instanceof HTMLElement && opener !== document.body && opener.isConnected) opener.focus();
      else document.querySelector('h1')?.focus();
    };
  }, []);
  const cancel = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!locked) onClose();
  };
  // A browser lets Escape through at the second time, whatever the first was told.
  const keep = (/** @type {KeyboardEvent} */ event) => {
    if (locked && event.key === 'Escape') event.preventDefault();
  };
  // Some ways of closing ask nobody, as a gesture on a phone. Hears of its own end, too, when it is off the page.
  const closed = () => {
    if (dialog.current === null) return;
    if (locked) dialog.current.showModal();
    else onClose();
  };
  return html`
    <dialog ref=${dialog} aria-labelledby=${id} onCancel=${cancel} onKeyDown=${keep} onClose=${closed}>
      <header class="dialog-head">
        <h2 id=${id}>${title}</h2>
        ${
          !locked &&
          html`<button type="button" class="button quiet square" aria-label="Close" onClick=${onClose}>
            <${Icon} name="close" />
          </button>`
        }
      </header>
      ${children}
    </dialog>
  `;
}
