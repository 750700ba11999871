import { change, createStore } from '../lib/store.js';
import { SECOND_MS, wait } from '../lib/time.js';
import { numberToUsd } from '../lib/usd.js';
import { streamChat } from './stream-chat.js';

/**
 * One question and its answer, with what it did to the balance.
 *
 * @typedef {object} Turn
 * @property {string} model
 * @property {string} prompt
 * @property {string} answer As far as it is written.
 * @property {'waiting' | 'writing' | 'done' | 'stopped' | 'failed'} state
 * @property {string} reason Why a finished answer ends where it does, such as `length`.
 * @property {import('./problem.js').Problem | null} problem
 * @property {string | null} callId
 * @property {string | null} holdUsd The worst case, set aside when the call started. Null: nothing was.
 * @property {string | null} chargeUsd Null while it is not known.
 * @property {{ prompt: number, completion: number } | null} tokens
 * @property {string | null} leftUsd What could be spent after it.
 */

/**
 * @typedef {object} Conversation
 * @property {import('../lib/store.js').Store<{ turns: readonly Turn[], running: boolean }>} store
 * @property {(question: { model: string, prompt: string, maxTokens: number | null }) => Promise<Turn>} ask Resolves when it has ended and its cost is known.
 * @property {() => void} stop
 * @property {() => void} clear
 */

/** How often, and for how long, the cost of an answer that broke off is asked for. */
const PRICE_TRIES = 8;
const PRICE_WAIT_MS = 2 * SECOND_MS;

/**
 * The playground's questions and answers. It goes on while another view is open: an answer that is paid for is not thrown
 * away by a look at the balance.
 *
 * @param {import('./gateway.js').GatewayCalls} gateway
 * @returns {Conversation}
 */
export function createConversation(gateway) {
  /** @type {Conversation['store']} */
  const store = createStore({ turns: /** @type {readonly Turn[]} */ ([]), running: false });
  let stopping = new AbortController();

  /** @param {Turn} turn @param {Partial<Turn>} changes */
  const update = (turn, changes) => {
    Object.assign(turn, changes);
    change(store, { turns: [...store.value.turns] });
  };

  /** @type {Conversation['ask']} */
  async function ask({ model, prompt, maxTokens }) {
    /** @type {Turn} */
    const turn = {
      ...{ model, prompt, answer: '', state: 'waiting', reason: '', problem: null },
      ...{ callId: null, holdUsd: null, chargeUsd: null, tokens: null, leftUsd: null },
    };
    const messages = [...store.value.turns.flatMap(saidIn), { role: 'user', content: prompt }];
    const body = { model, messages, ...(maxTokens === null ? {} : { max_tokens: maxTokens }) };
    stopping = new AbortController();
    change(store, { turns: [...store.value.turns, turn], running: true });
    const { signal } = stopping;
    const result = await streamChat(
      gateway.key,
      body,
      {
        started: (start) => update(turn, start),
        wrote: (text) => update(turn, { answer: turn.answer + text, state: 'writing' }),
      },
      signal,
    );
    if (result.ok) {
      const { reason, usage } = result.value;
      update(turn, { state: 'done', reason, ...(usage === null ? {} : priceIn(usage)) });
    } else {
      update(turn, { state: signal.aborted ? 'stopped' : 'failed', problem: result.problem });
    }
    change(store, { running: false });
    gateway.checked(result);
    await readOutcome(turn);
    return turn;
  }

  /** What the call cost where the stream did not say, and what is left. @param {Turn} turn */
  async function readOutcome(turn) {
    for (let tries = 0; turn.holdUsd !== null && turn.chargeUsd === null && tries < PRICE_TRIES; tries += 1) {
      /** @type {import('./problem.js').Result<import('./records.d.ts').CallPage>} */
      const page = await gateway.tool('list_calls', { limit: 10 });
      const call = page.ok ? page.value.calls.find(({ id }) => String(id) === turn.callId) : undefined;
      if (call !== undefined && call.outcome !== 'running' && call.outcome !== 'pending') {
        const { prompt, completion } = call.tokens;
        update(turn, { chargeUsd: call.charge_usd, tokens: { prompt, completion } });
      } else await wait(PRICE_WAIT_MS);
    }
    /** @type {import('./problem.js').Result<import('./records.d.ts').Balance>} */
    const balance = await gateway.v1('/balance');
    if (balance.ok) update(turn, { leftUsd: balance.value.spendable_usd });
  }

  return {
    store,
    ask,
    stop: () => stopping.abort(),
    clear: () => change(store, { turns: [] }),
  };
}

/** What the model is told of an earlier turn; of one without an answer, nothing. @param {Turn} turn */
const saidIn = ({ prompt, answer }) =>
  answer === ''
    ? []
    : [
        { role: 'user', content: prompt },
        { role: 'assistant', content: answer },
      ];

/** @param {{ prompt_tokens: number, completion_tokens: number, cost: number }} usage */
const priceIn = ({ prompt_tokens: prompt, completion_tokens: completion, cost }) => ({
  chargeUsd: numberToUsd(cost),
  tokens: { prompt, completion },
});
