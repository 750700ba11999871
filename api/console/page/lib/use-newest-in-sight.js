import { useEffect, useRef } from '/console/vendor/preact-hooks.js';

/**
 * For a list whose newest item comes first: on a phone it is far below the form that asked for it, and whoever sees nothing
 * happen asks again, and pays again.
 *
 * @param {number} count Of its items.
 */
export function useNewestInSight(count) {
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const before = useRef(count);
  useEffect(() => {
    if (count > before.current) list.current?.firstElementChild?.scrollIntoView({ block: 'nearest' });
    before.current = count;
  }, [count]);
  return list;
}
