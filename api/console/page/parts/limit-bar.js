import { html } from '../lib/html.js';
import { dayName, fromNow, longTime } from '../lib/time.js';
import { shareOf, toNano } from '../lib/usd.js';
import { Bar } from './bar.js';
import { Usd } from './usd.js';

const PERIODS = { daily: 'a day', weekly: 'a week', monthly: 'a month' };
const NEARLY_ALL = 0.9;

/**
 * A key's spending limit: what of it is spent, held and left.
 *
 * @param {{ limit: import('../client/records.d.ts').SpendingLimit }} props
 */
export function LimitBar({ limit }) {
  const whole = toNano(limit.limit_usd);
  const used = shareOf(toNano(limit.spent_usd), whole);
  const held = Math.min(1 - used, shareOf(toNano(limit.reserved_usd), whole));
  const tone = used + held >= 1 ? 'bad' : used + held >= NEARLY_ALL ? 'warn' : 'accent';
  return html`
    <div class="limit-bar">
      <p><${Usd} usd=${limit.remaining_usd} /> <span class="soft">left of ${' '}</span><${Usd} usd=${limit.limit_usd} />${' '}
        <span class="soft">${PERIODS[limit.reset]}</span></p>
      <${Bar} used=${used} held=${held} tone=${tone} />
      <p class="soft small">
        <${Usd} usd=${limit.spent_usd} /> spent, <${Usd} usd=${limit.reserved_usd} /> held by running calls. Begins anew${' '}
        <time datetime=${limit.resets_at} title=${longTime(limit.resets_at)}>${fromNow(limit.resets_at)}</time>, on
        ${' '}${dayName(limit.resets_at)} at 00:00 UTC.
      </p>
    </div>
  `;
}
