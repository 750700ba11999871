import { html } from '../lib/html.js';
import { count } from '../lib/numbers.js';
import { fromNano, shareOf, toNano } from '../lib/usd.js';
import { ProblemNotice } from './problem-notice.js';
import { Usd } from './usd.js';

/** @typedef {import('../client/conversation.js').Turn} Turn */

/** A question, its answer as it is written, and its receipt. @param {{ turn: Turn }} props */
export const TurnView = ({ turn }) => html`
  <article class="turn">
    <div class="said said-you"><p class="who">You</p><p class="text">${turn.prompt}</p></div>
    <div class="said">
      <p class="who"><bdi>${turn.model}</bdi></p>
      ${turn.answer !== '' && html`<p class="text">${turn.answer}</p>`}
      ${turn.state === 'waiting' && html`<p class="soft writing">Waiting for the first word…</p>`}
      ${turn.state === 'writing' && html`<span class="caret" aria-hidden="true"></span>`}
      ${turn.reason === 'length' && html`<p class="soft small">It ends here because the longest answer is reached.</p>`}
      ${turn.state === 'stopped' && html`<p class="soft small">You stopped it here. What was written until then is charged.</p>`}
      ${turn.state === 'failed' && html`<${ProblemNotice} problem=${turn.problem} />`}
    </div>
    <${Receipt} turn=${turn} />
  </article>
`;

/** What the call held, what it was charged, and what came back. @param {{ turn: Turn }} props */
function Receipt({ turn: { state, holdUsd, chargeUsd, tokens, leftUsd } }) {
  if (holdUsd === null) {
    return (
      state === 'failed' &&
      html`<p class="receipt soft small">It was refused before it ran: nothing was held or charged.</p>`
    );
  }
  const held = toNano(holdUsd);
  const charged = chargeUsd === null ? 0n : toNano(chargeUsd);
  const runs = state === 'waiting' || state === 'writing';
  return html`
    <div class="receipt" role="group" aria-label="Receipt">
      <div class="bar bar-receipt" aria-hidden="true">
        <i style=${{ '--share': shareOf(charged, held) }}></i>
        ${chargeUsd === null && html`<i class="bar-held" style=${{ '--share': 1 }}></i>`}
      </div>
      <dl>
        <div><dt>Held</dt><dd><${Usd} usd=${holdUsd} /></dd></div>
        <div>
          <dt>Charged</dt>
          <dd>${chargeUsd === null ? (runs ? 'when it ends' : 'not known yet') : html`<strong><${Usd} usd=${chargeUsd} /></strong>`}</dd>
        </div>
        ${chargeUsd !== null && html`<div><dt>Given back</dt><dd><${Usd} usd=${fromNano(held - charged)} /></dd></div>`}
        ${leftUsd !== null && html`<div><dt>Spendable now</dt><dd><${Usd} usd=${leftUsd} /></dd></div>`}
        ${tokens !== null && html`<div><dt>Tokens</dt><dd>${count(tokens.prompt)} read, ${count(tokens.completion)} written</dd></div>`}
      </dl>
    </div>
  `;
}
