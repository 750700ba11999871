import { useEffect, useReducer } from '/console/vendor/preact-hooks.js';

/**
 * A value that outlives the view that shows it, and whoever shows it hears of a change.
 *
 * @template T
 * @typedef {{ value: T, listeners: Set<() => void> }} Store
 */

/**
 * @template T
 * @param {T} value
 * @returns {Store<T>}
 */
export const createStore = (value) => ({ value, listeners: new Set() });

/**
 * @template {object} T
 * @param {Store<T>} store
 * @param {Partial<T>} change
 */
export function change(store, change) {
  store.value = { ...store.value, ...change };
  for (const listener of store.listeners) listener();
}

/**
 * @template T
 * @param {Store<T>} store
 * @returns {T}
 */
export function useStore(store) {
  const [, redraw] = useReducer((/** @type {number} */ count) => count + 1, 0);
  useEffect(() => {
    const listener = () => redraw(undefined);
    store.listeners.add(listener);
    // It may have changed between the first drawing and now.
    listener();
    return () => void store.listeners.delete(listener);
  }, [store]);
  return store.value;
}
