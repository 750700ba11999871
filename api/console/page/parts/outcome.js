import { html } from '../lib/html.js';

/** What each outcome is called, and what it means. */
export const outcomes = {
  running: ['Running', 'It runs, and holds its worst case from the balance.'],
  pending: ['Being priced', 'It has ended; its cost is not known yet, so the money stays held.'],
  ok: ['Done', 'It ended, and was charged.'],
  stopped: ['Stopped', 'The caller hung up; what had been written by then is charged.'],
  failed: ['Failed', 'It failed; most failures are free.'],
};

/** @param {{ outcome: keyof typeof outcomes }} props */
export const Outcome = ({ outcome }) =>
  html`<span class="badge badge-${outcome}">${outcomes[outcome][0]}</span>`;
