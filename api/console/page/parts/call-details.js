import { html } from '../lib/html.js';
import { count } from '../lib/numbers.js';
import { duration, longTime } from '../lib/time.js';
import { CopyField } from './copy-field.js';
import { Dialog } from './dialog.js';
import { Outcome, outcomes } from './outcome.js';
import { Usd } from './usd.js';

/** Everything that the gateway keeps of a call. @param {{ call: import('../client/records.d.ts').Call, onClose: () => void }} props */
export const CallDetails = ({ call, onClose }) => html`
  <${Dialog} title="Call" onClose=${onClose}>
    <p class="outcome-line"><${Outcome} outcome=${call.outcome} /> <span class="soft">${outcomes[call.outcome][1]}</span></p>
    <dl class="facts">
      <${Fact} what="Model"><bdi>${call.model_name}</bdi> <span class="soft small id"><bdi>${call.model}</bdi></span><//>
      <${Fact} what="Started"><time datetime=${call.started_at}>${longTime(call.started_at)}</time><//>
      <${Fact} what="Took">${call.outcome === 'running' ? 'It still runs' : duration(call.duration_ms)}<//>
      <${Fact} what="Key"><bdi>${call.key.label}</bdi> <code>${call.key.prefix}…</code><//>
      <${Fact} what="Format">${call.endpoint}${call.stream ? ', streamed' : ''}<//>
      ${
        call.error_code !== null &&
        html`<${Fact} what="Error"><code>${call.error_code}</code>${call.http_status !== undefined && ` HTTP ${call.http_status}`}<//>`
      }
      <${Fact} what="Tokens read">
        ${count(call.tokens.prompt)}${call.tokens.cached > 0 && html` <span class="soft">(${count(call.tokens.cached)} from a cache)</span>`}
        <${Estimated} call=${call} />
      <//>
      <${Fact} what="Tokens written">
        ${count(call.tokens.completion)}${
          (call.tokens.reasoning ?? 0) > 0 &&
          html` <span class="soft">(${count(call.tokens.reasoning ?? 0)} of thought)</span>`
        }
        <${Estimated} call=${call} />
      <//>
      <${Fact} what="Held at the start"><${Usd} usd=${call.reserved_usd} /><//>
      <${Fact} what="Charged"><${Usd} usd=${call.charge_usd} /><//>
    </dl>
    <${CopyField} label="Call id, to quote to the operator" text=${String(call.id)} />
  <//>
`;

/** @param {{ call: import('../client/records.d.ts').Call }} props */
const Estimated = ({ call }) =>
  call.tokens.estimated === true && html` <span class="soft">(estimated)</span>`;

/** @param {{ what: string, children?: unknown }} props */
const Fact = ({ what, children }) => html`<div><dt>${what}</dt><dd>${children}</dd></div>`;
