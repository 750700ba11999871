import { change, createStore } from '../lib/store.js';
import { numberToUsd } from '../lib/usd.js';
import { captionOf, keepList, keptList } from './kept-list.js';

/**
 * What one order of pictures gave.
 *
 * @typedef {object} PictureSet
 * @property {string} model
 * @property {string} prompt Its beginning.
 * @property {'making' | 'done' | 'failed'} state
 * @property {readonly { url: string, expires_at: string }[]} pictures
 * @property {string | null} chargeUsd
 * @property {import('./problem.js').Problem | null} problem
 */

/**
 * @typedef {object} Pictures
 * @property {import('../lib/store.js').Store<{ sets: readonly PictureSet[] }>} store Newest first.
 * @property {(order: { model: string, prompt: string } & Record<string, unknown>) => Promise<PictureSet>} make Resolves when they are there, or refused.
 */

const LIST = 'pictures';

/**
 * The pictures of this tab. Their making goes on while another view is open.
 *
 * @param {import('./gateway.js').GatewayCalls} gateway
 * @returns {Pictures}
 */
export function createPictures(gateway) {
  /** @type {Pictures['store']} */
  const store = createStore({ sets: keptList(LIST) });

  /** @type {Pictures['make']} */
  async function make(order) {
    /** @type {PictureSet} */
    const making = {
      ...{ model: order.model, prompt: captionOf(order.prompt), state: 'making' },
      ...{ pictures: [], chargeUsd: null, problem: null },
    };
    change(store, { sets: [making, ...store.value.sets] });
    /** @type {import('./problem.js').Result<import('./records.d.ts').PictureAnswer>} */
    const result = await gateway.sendV1('/images', order);
    /** @type {PictureSet} */
    const made = result.ok
      ? { ...making, state: 'done', pictures: result.value.data, chargeUsd: chargeOf(result.value) }
      : { ...making, state: 'failed', problem: result.problem };
    const sets = store.value.sets.map((set) => (set === making ? made : set));
    change(store, { sets });
    keepList(
      LIST,
      sets.filter(({ state }) => state === 'done'),
    );
    return made;
  }

  return { store, make };
}

/** @param {import('./records.d.ts').PictureAnswer} answer */
const chargeOf = ({ usage }) => numberToUsd(usage.cost);
