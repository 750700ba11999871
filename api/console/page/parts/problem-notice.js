import { useEffect, useState } from '/console/vendor/preact-hooks.js';
import { html } from '../lib/html.js';
import { SECOND_MS } from '../lib/time.js';
import { Notice } from './notice.js';

/** Where what the sentence speaks of can be looked at. */
const places = {
  insufficient_balance: ['#/balance', 'See when credit ends'],
  key_limit: ['#/limits', "See this key's limit"],
  too_many_running_calls: ['#/calls', 'See what is running'],
  rate_limited: ['#/limits', 'See the limits'],
};

/**
 * What went wrong in the gateway's own words, with its code, and the way on: a wait that counts down, or a button. Of what
 * `isPublic` no page of an account says more.
 *
 * @param {{ problem: import('../client/problem.js').Problem | null, retry?: () => void, isPublic?: boolean }} props
 */
export function ProblemNotice({ problem, retry, isPublic = false }) {
  if (problem === null) return null;
  const { kind, message, code } = problem;
  const place = isPublic ? undefined : Object.entries(places).find(([name]) => name === code)?.[1];
  return html`
    <div role="alert">
      <${Notice} tone=${kind === 'wait' ? 'warn' : 'bad'}>
        <p>${message}</p>
        <p class="notice-foot">
          ${code !== null && html`<code>${code}</code>`}
          ${kind === 'wait' && html`<${Countdown} key=${problem} problem=${problem} alone=${retry !== undefined} />`}
          ${place !== undefined && html`<a href=${place[0]}>${place[1]}</a>`}
          ${
            retry !== undefined &&
            kind !== 'wait' &&
            html`<button type="button" class="link" onClick=${retry}>Try again</button>`
          }
        </p>
      <//>
    </div>
  `;
}

/**
 * Seconds tick for the eye alone: read aloud, each of them would be a new alert.
 *
 * @param {{ problem: import('../client/problem.js').Problem, alone: boolean }} props
 */
function Countdown({ problem, alone }) {
  const [leftMs, setLeftMs] = useState(problem.waitMs);
  useEffect(() => {
    const endsAt = Date.now() + problem.waitMs;
    const timer = setInterval(() => setLeftMs(Math.max(0, endsAt - Date.now())), SECOND_MS / 4);
    return () => clearInterval(timer);
  }, [problem]);
  const seconds = Math.ceil(leftMs / SECOND_MS);
  return html`<span aria-hidden="true">
    ${alone ? `Trying again in ${seconds} s.` : seconds > 0 ? `Wait ${seconds} s, then try again.` : 'Try again now.'}
  </span>`;
}
