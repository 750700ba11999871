import { useState } from '/console/vendor/preact-hooks.js';
import { useGateway } from '../client/gateway.js';
import { useKeys } from '../client/use-resource.js';
import { html } from '../lib/html.js';
import { fromNow, longTime } from '../lib/time.js';
import { Icon } from '../parts/icon.js';
import { CreateKey, EditKey, RevokeKey } from '../parts/key-dialogs.js';
import { LimitBar } from '../parts/limit-bar.js';
import { Notice } from '../parts/notice.js';
import { PageHead } from '../parts/page-head.js';
import { ResourceView } from '../parts/resource-view.js';
import { Usd } from '../parts/usd.js';

/** @typedef {import('../client/records.d.ts').Key} Key */
/** @typedef {import('../client/records.d.ts').KeyList} KeyList */
/** @typedef {{ name: 'create' } | { name: 'edit' | 'revoke', key: Key }} Step */

export function KeysView() {
  const { signOut } = useGateway();
  const keys = useKeys();
  const [step, setStep] = useState(/** @type {Step | null} */ (null));
  const [told, setTold] = useState('');
  const close = () => setStep(null);
  /** @param {string} what */
  const done = (what) => {
    close();
    setTold(what);
    void keys.reload();
  };
  const manages = keys.value?.keys.some((key) => key.this_key && key.spending_limit === null) ?? false;
  return html`
    <${PageHead} title="Keys" about="Each opens the gateway for whoever has it." resource=${keys}>
      ${
        manages &&
        html`<button type="button" class="button primary" aria-haspopup="dialog" onClick=${() => setStep({ name: 'create' })}>
          <${Icon} name="plus" />New key
        </button>`
      }
    <//>
    <p class="told" role="status">${told}</p>
    <${ResourceView} resource=${keys}>
      ${(/** @type {KeyList} */ { keys: all, max_active: most }) => html`
        ${
          !manages &&
          html`<${Notice}>
            <p>
              This key has a spending limit, so it can read but not create, change or revoke keys. Open the console with a
              key without a limit for that.
            </p>
          <//>`
        }
        <p class="soft small">${all.length} of ${most} active keys</p>
        <ul class="keys">
          ${all.map((key) => html`<${KeyCard} key=${key.id} record=${key} all=${all} manages=${manages} onStep=${setStep} />`)}
        </ul>
      `}
    <//>
    ${step?.name === 'create' && html`<${CreateKey} onClose=${close} onCreated=${keys.reload} />`}
    ${step?.name === 'edit' && html`<${EditKey} record=${step.key} onClose=${close} onDone=${done} />`}
    ${
      step?.name === 'revoke' &&
      html`<${RevokeKey}
        record=${step.key}
        onClose=${close}
        onDone=${
          step.key.this_key ? () => signOut('You revoked the key that this console was open with.') : done
        }
      />`
    }
  `;
}

/** @param {{ record: Key, all: readonly Key[], manages: boolean, onStep: (step: Step) => void }} props */
function KeyCard({ record, all, manages, onStep }) {
  const { id, label, prefix, created_at: created, last_used_at: used, month_usd: month } = record;
  const maker = record.created_by_key_id;
  return html`
    <li class="card key-card" aria-label=${`Key ${label}`}>
      <div class="key-name">
        <h2><bdi>${label}</bdi></h2>
        ${record.this_key && html`<span class="tag tag-accent">This key</span>`}
        <code>${prefix}…</code>
      </div>
      <dl class="key-facts">
        <div><dt>This month</dt><dd><${Usd} usd=${month} /></dd></div>
        <div>
          <dt>Last used</dt>
          <dd>${used === null ? 'Never' : html`<time datetime=${used} title=${longTime(used)}>${fromNow(used)}</time>`}</dd>
        </div>
        <div><dt>Created</dt><dd><time datetime=${created} title=${longTime(created)}>${fromNow(created)}</time></dd></div>
        <div><dt>By</dt><dd>${maker === null ? 'the operator' : html`<${Maker} id=${maker} all=${all} />`}</dd></div>
      </dl>
      ${
        record.spending_limit === null
          ? html`<p class="soft">No spending limit: it can spend the whole balance, and manage keys.</p>`
          : html`<${LimitBar} limit=${record.spending_limit} />`
      }
      ${
        manages &&
        html`<div class="key-actions">
          <button type="button" class="button" aria-haspopup="dialog" aria-label=${`Change ${label}`} onClick=${() => onStep({ name: 'edit', key: record })}>
            Change
          </button>
          <button type="button" class="button danger" aria-haspopup="dialog" aria-label=${`Revoke ${label}`} onClick=${() => onStep({ name: 'revoke', key: record })}>
            Revoke
          </button>
          <span class="soft small">id ${id}</span>
        </div>`
      }
    </li>
  `;
}

/** A key that made another may be revoked since: then its id is all there is. @param {{ id: number, all: readonly Key[] }} props */
function Maker({ id, all }) {
  const found = all.find((key) => key.id === id);
  return found === undefined ? html`key ${id}` : html`<bdi>${found.label}</bdi>`;
}
