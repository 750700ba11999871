import { change, createStore } from '../lib/store.js';
import { numberToUsd } from '../lib/usd.js';
import { captionOf, keepList, keptList } from './tab-storage.js';

/**
 * What one order of images gave.
 *
 * @typedef {object} ImageSet
 * @property {string} model
 * @property {string} prompt Its beginning.
 * @property {'making' | 'done' | 'failed'} state
 * @property {readonly { url: string, expires_at: string }[]} images
 * @property {string | null} chargeUsd
 * @property {import('./problem.js').Problem | null} problem
 */

/**
 * @typedef {object} Images
 * @property {import('../lib/store.js').Store<{ sets: readonly ImageSet[] }>} store Newest first.
 * @property {(order: { model: string, prompt: string } & Record<string, unknown>) => Promise<ImageSet>} make Resolves when they are there, or refused.
 */

const LIST = 'pictures';

/**
 * The images of this tab. Their making goes on while another view is open.
 *
 * @param {import('./gateway.js').GatewayCalls} gateway
 * @returns {Images}
 */
export function createImages(gateway) {
  /** @type {Images['store']} */
  const store = createStore({ sets: keptList(LIST) });

  /** @type {Images['make']} */
  async function make(order) {
    /** @type {ImageSet} */
    const making = {
      ...{ model: order.model, prompt: captionOf(order.prompt), state: 'making' },
      ...{ images: [], chargeUsd: null, problem: null },
    };
    change(store, { sets: [making, ...store.value.sets] });
    /** @type {import('./problem.js').Result<import('./records.d.ts').ImageAnswer>} */
    const result = await gateway.sendV1('/images', order);
    /** @type {ImageSet} */
    const made = result.ok
      ? { ...making, state: 'done', images: result.value.data, chargeUsd: chargeOf(result.value) }
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

/** @param {import('./records.d.ts').ImageAnswer} answer */
const chargeOf = ({ usage }) => numberToUsd(usage.cost);
