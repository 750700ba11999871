import { useCallback, useEffect, useRef } from '/console/vendor/preact-hooks.js';
import { change, createStore, useStore } from '../lib/store.js';
import { SECOND_MS } from '../lib/time.js';
import { useGateway } from './gateway.js';

/** A view that is opened again within this shows what it had. */
const FRESH_MS = 2 * SECOND_MS;

/**
 * @template T
 * @typedef {object} Resource
 * @property {T | null} value What was read last; it stays in sight while it is read again.
 * @property {import('./problem.js').Problem | null} problem Why the last reading failed.
 * @property {boolean} loading
 * @property {() => Promise<void>} reload
 */

/**
 * Something of the gateway's, read when a view needs it, kept for the views after it, and read again by itself where the
 * gateway asked to wait.
 *
 * @template T
 * @param {string} id
 * @param {(gateway: import('./gateway.js').Gateway) => Promise<import('./problem.js').Result<T>>} load
 * @returns {Resource<T>}
 */
export function useResource(id, load) {
  const gateway = useGateway();
  const store = storeOf(gateway, id);
  const state = useStore(store);
  const latest = useRef(load);
  latest.current = load;

  const reload = useCallback(async () => {
    const turn = store.value.turn + 1;
    change(store, { loading: true, turn });
    const result = await latest.current(gateway);
    // An older answer must not overwrite a newer one.
    if (store.value.turn !== turn) return;
    const readAtMs = Date.now();
    if (result.ok) change(store, { value: result.value, problem: null, loading: false, readAtMs });
    else change(store, { problem: result.problem, loading: false, readAtMs });
  }, [store, gateway]);

  useEffect(() => {
    if (!store.value.loading && Date.now() - store.value.readAtMs > FRESH_MS) void reload();
  }, [store, reload]);

  const { value, problem, loading } = state;
  useEffect(() => {
    if (problem?.kind !== 'wait') return undefined;
    const timer = setTimeout(reload, problem.waitMs);
    return () => clearTimeout(timer);
  }, [problem, reload]);

  return { value, problem, loading, reload };
}

/** @param {import('./gateway.js').Gateway} gateway @param {string} id */
function storeOf({ resources }, id) {
  const empty = { value: null, problem: null, loading: false, readAtMs: 0, turn: 0 };
  const store = resources.get(id) ?? createStore(empty);
  resources.set(id, store);
  return store;
}

/** @returns {import('./use-resource.js').Resource<import('./records.d.ts').Balance>} */
export const useBalance = () => useResource('balance', (gateway) => gateway.v1('/balance'));

/** @returns {import('./use-resource.js').Resource<import('./records.d.ts').KeyList>} */
export const useKeys = () => useResource('keys', (gateway) => gateway.tool('list_keys'));

/** @returns {import('./use-resource.js').Resource<import('./records.d.ts').Limits>} */
export const useLimits = () => useResource('limits', (gateway) => gateway.tool('get_limits'));
