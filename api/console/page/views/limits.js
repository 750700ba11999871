import { useLimits } from '../client/use-resource.js';
import { html } from '../lib/html.js';
import { count } from '../lib/numbers.js';
import { Bar } from '../parts/bar.js';
import { LimitBar } from '../parts/limit-bar.js';
import { PageHead } from '../parts/page-head.js';
import { ResourceView } from '../parts/resource-view.js';

/** @typedef {import('../client/records.d.ts').Limits} Limits */

export function LimitsView() {
  const limits = useLimits();
  return html`
    <${PageHead} title="Limits" about="How much, how fast, how large, and how near you are." resource=${limits} />
    <${ResourceView} resource=${limits}>${(/** @type {Limits} */ value) => html`<${AllLimits} limits=${value} />`}<//>
  `;
}

/** @param {{ limits: Limits }} props */
const AllLimits = ({ limits: { key, agent, request, mcp, images } }) => html`
  <section class="card" aria-labelledby="this-key">
    <h2 id="this-key">This key</h2>
    <p><bdi>${key.label}</bdi> <code>${key.prefix}…</code></p>
    ${
      key.spending_limit === null
        ? html`<p class="soft">It has no spending limit: it can spend the whole balance, and manage the agent's keys.</p>`
        : html`<${LimitBar} limit=${key.spending_limit} />`
    }
  </section>
  <div class="cards">
    <section class="card" aria-labelledby="agent">
      <h2 id="agent">Agent</h2>
      <p class="soft small">Shared by all of its keys.</p>
      <dl class="facts">
        <${Used} what="Running calls" used=${agent.running_calls} most=${agent.max_running_calls} />
        <${Used} what="Active keys" used=${agent.active_keys} most=${agent.max_active_keys} />
        <${Fact} what="Call starts a minute" value=${agent.calls_per_minute} />
        <${Fact} what="Call starts at once" value=${agent.burst} />
      </dl>
    </section>
    <section class="card" aria-labelledby="request">
      <h2 id="request">Each call</h2>
      <dl class="facts">
        <${Fact} what="Request body" value=${request.max_body_mb} unit="MB" />
        <${Fact} what="Streamed answer" value=${request.max_stream_minutes} unit="min" />
        <${Fact} what="Whole answer" value=${request.max_call_minutes} unit="min" />
      </dl>
    </section>
    <section class="card" aria-labelledby="mcp">
      <h2 id="mcp">MCP and this console</h2>
      <dl class="facts">
        <${Fact} what="Requests a minute, each key" value=${mcp.requests_per_minute} />
        <${Fact} what="Requests at once" value=${mcp.burst} />
        <${Fact} what="New keys in 24 hours" value=${mcp.keys_per_day} />
      </dl>
    </section>
    <section class="card" aria-labelledby="images">
      <h2 id="images">Images</h2>
      <dl class="facts">
        <${Fact} what="Uploads in 24 hours" value=${images.uploads_per_day} />
        <${Fact} what="Each upload" value=${images.max_upload_mb} unit="MB" />
        <${Fact} what="Upload links last" value=${images.upload_link_hours} unit="h" />
        <${Fact} what="Links to results last" value=${images.result_link_days} unit="days" />
        <${Fact} what="Stored results" value=${images.max_results_gb} unit="GB" />
      </dl>
    </section>
  </div>
`;

/** @param {{ what: string, value: number, unit?: string }} props */
const Fact = ({ what, value, unit }) => html`
  <div><dt>${what}</dt><dd>${count(value)}${unit !== undefined && html` <span class="soft">${unit}</span>`}</dd></div>
`;

/** @param {{ what: string, used: number, most: number }} props */
const Used = ({ what, used, most }) => html`
  <div>
    <dt>${what}</dt>
    <dd>
      ${count(used)} <span class="soft">of ${count(most)}</span>
      <${Bar} used=${most === 0 ? 0 : Math.min(1, used / most)} tone=${used >= most ? 'warn' : 'accent'} />
    </dd>
  </div>
`;
