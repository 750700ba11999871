import { change, createStore } from '../lib/store.js';
import { readVideoLink } from './read-video-link.js';
import { captionOf, keepList, keptList } from './tab-storage.js';

/** @typedef {import('./records.d.ts').VideoJob} VideoJob */
/** @template T @typedef {import('./problem.js').Result<T>} Result */

/**
 * A video that was ordered in this tab.
 *
 * @typedef {object} OwnVideo
 * @property {string} id
 * @property {string} prompt Its beginning.
 * @property {string} aspectRatio
 * @property {VideoJob | null} job As it was read last. Null: not yet.
 * @property {import('./problem.js').Problem | null} problem Why the last reading failed.
 */

/**
 * @typedef {object} Videos
 * @property {import('../lib/store.js').Store<{ all: readonly OwnVideo[], ordering: boolean }>} store Newest first.
 * @property {(order: VideoOrder) => Promise<Result<VideoJob>>} order
 * @property {() => Promise<void>} refresh Reads those that may have changed.
 * @property {(id: string) => Promise<Result<string>>} link
 * @property {(id: string) => void} forget
 */

/**
 * @typedef {object} VideoOrder
 * @property {string} model
 * @property {string} prompt
 * @property {number} duration
 * @property {string} resolution
 * @property {string} aspect_ratio
 * @property {boolean} [generate_audio]
 * @property {number} [seed]
 */

const LIST = 'videos';
/** A key may read 60 times a minute, and others may use it too: so many every ten seconds. */
const READS_MAX = 8;

/**
 * The videos of this tab. They are made whether or not anybody looks; the view that shows them asks how they are.
 *
 * @param {import('./gateway.js').GatewayCalls} gateway
 * @returns {Videos}
 */
export function createVideos(gateway) {
  /** @type {readonly OwnVideo[]} */
  const kept = keptList(LIST);
  /** @type {Videos['store']} */
  const store = createStore({
    all: kept.map((each) => ({ ...each, job: null, problem: null })),
    ordering: false,
  });
  let unanswered = { text: '', idempotencyKey: '' };
  /** When an id was asked for last: the longest ago is asked for next. @type {Map<string, number>} */
  const askedAt = new Map();
  let waitUntilMs = 0;
  let refreshing = false;

  /** @param {readonly OwnVideo[]} all */
  const keep = (all) => {
    change(store, { all });
    keepList(
      LIST,
      all.map(({ id, prompt, aspectRatio }) => ({ id, prompt, aspectRatio })),
    );
  };
  /** @param {string} id @param {Partial<OwnVideo>} changes */
  const update = (id, changes) =>
    change(store, { all: store.value.all.map((each) => (each.id === id ? { ...each, ...changes } : each)) });

  /** @type {Videos['order']} */
  async function order(body) {
    // The same order again after no answer is the same video, if the first one did arrive.
    const text = JSON.stringify(body);
    if (unanswered.text !== text) unanswered = { text, idempotencyKey: newIdempotencyKey() };
    change(store, { ordering: true });
    /** @type {Result<VideoJob>} */
    const result = await gateway.sendV1('/videos', body, { 'idempotency-key': unanswered.idempotencyKey });
    change(store, { ordering: false });
    if (result.ok || result.problem.kind !== 'unknown') unanswered = { text: '', idempotencyKey: '' };
    if (result.ok) {
      const job = result.value;
      const made = {
        id: job.id,
        prompt: captionOf(body.prompt),
        aspectRatio: body.aspect_ratio,
        job,
        problem: null,
      };
      askedAt.set(job.id, Date.now());
      keep([made, ...store.value.all.filter(({ id }) => id !== job.id)]);
    }
    return result;
  }

  async function refresh() {
    if (refreshing || Date.now() < waitUntilMs) return;
    refreshing = true;
    const due = store.value.all
      .filter(isOpen)
      .sort((a, b) => (askedAt.get(a.id) ?? 0) - (askedAt.get(b.id) ?? 0));
    for (const { id } of due.slice(0, READS_MAX)) {
      askedAt.set(id, Date.now());
      /** @type {Result<VideoJob>} */
      const result = await gateway.v1(`/videos/${id}`);
      if (result.ok) update(id, { job: result.value, problem: null });
      else if (result.problem.kind === 'wait') {
        waitUntilMs = Date.now() + result.problem.waitMs;
        break;
      } else update(id, { problem: result.problem });
    }
    refreshing = false;
  }

  return {
    store,
    order,
    refresh,
    link: async (id) => gateway.checked(await readVideoLink(gateway.key, id)),
    forget: (id) => keep(store.value.all.filter((each) => each.id !== id)),
  };
}

/** Whether it may be another one when it is read again. @param {OwnVideo} video */
export const isOpen = ({ job, problem }) =>
  job === null
    ? problem === null || problem.kind === 'unknown'
    : job.status === 'pending' || job.status === 'in_progress';

/** 32 letters and digits. A page without https has no `randomUUID`. */
const newIdempotencyKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
