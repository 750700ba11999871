import { useBalance } from '../client/use-resource.js';
import { html } from '../lib/html.js';
import { counted } from '../lib/numbers.js';
import { LimitBar } from '../parts/limit-bar.js';
import { Empty, Notice } from '../parts/notice.js';
import { PageHead } from '../parts/page-head.js';
import { ResourceView } from '../parts/resource-view.js';
import { Timeline } from '../parts/timeline.js';
import { Usd } from '../parts/usd.js';

/** @typedef {import('../client/records.d.ts').Balance} Balance */

export function BalanceView() {
  const balance = useBalance();
  return html`
    <${PageHead} title="Balance" about="What your calls can spend, and until when." resource=${balance} />
    <${ResourceView} resource=${balance}>${(/** @type {Balance} */ value) => html`<${Money} balance=${value} />`}<//>
  `;
}

/** @param {{ balance: Balance }} props */
const Money = ({ balance }) => html`
  <${Standing} status=${balance.agent.status} />
  <section class="fare" aria-label="Money">
    <div class="fare-main">
      <h2>Spendable now</h2>
      <p class="fare-sum"><${Usd} usd=${balance.spendable_usd} /></p>
    </div>
    <dl>
      <div><dt>Balance</dt><dd><${Usd} usd=${balance.balance_usd} /></dd></div>
      <div><dt>Held by running calls</dt><dd><${Usd} usd=${balance.reserved_usd} /></dd></div>
      <div>
        <dt>Running</dt>
        <dd>
          ${
            balance.running_calls === 0
              ? 'No calls'
              : html`<a href="#/calls">${counted(balance.running_calls, 'call')}</a>`
          }
        </dd>
      </div>
    </dl>
  </section>
  <section class="card" aria-labelledby="ends">
    <h2 id="ends">When credit ends</h2>
    ${
      balance.expiring.length === 0
        ? html`<${Empty} title="No credit">
            <p>
              Calls are refused until there is some. Credit comes from the trading fees of the agent's token, by a
              purchase, or from the operator; it then lasts seven days.
            </p>
          <//>`
        : html`<${Timeline} lots=${balance.expiring} />`
    }
  </section>
  ${
    balance.key_limit !== null &&
    html`<section class="card" aria-labelledby="key-limit">
      <h2 id="key-limit">This key's limit</h2>
      <${LimitBar} limit=${balance.key_limit} />
    </section>`
  }
`;

/** @param {{ status: Balance['agent']['status'] }} props */
function Standing({ status }) {
  switch (status) {
    case 'active':
      return null;
    case 'inactive':
      return html`<${Notice} tone="warn">
        <p>This agent is not active yet. Its calls are refused until its launch is confirmed and the launch fee is paid.</p>
      <//>`;
    default:
      return html`<${Notice} tone="bad">
        <p>This agent is suspended. Its calls are refused; ask the operator why.</p>
      <//>`;
  }
}
