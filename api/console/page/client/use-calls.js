import { useEffect, useRef, useState } from '/console/vendor/preact-hooks.js';
import { SECOND_MS } from '../lib/time.js';
import { useGateway } from './gateway.js';
import { useResource } from './use-resource.js';

/** @typedef {import('./records.d.ts').Call} Call */
/** @typedef {import('./records.d.ts').CallPage} CallPage */

const PAGE = 25;
/** While calls run or are being priced, they are looked at again. */
const WATCH_MS = 5 * SECOND_MS;
/** @type {CallPage} */
const NONE = { calls: [], next: null };

/**
 * Calls of one key or of all, newest first: those that came since are put before the ones that are known, older ones are
 * read on demand.
 *
 * @param {number | null} keyId
 */
export function useCalls(keyId) {
  const gateway = useGateway();
  const args = { limit: PAGE, ...(keyId === null ? {} : { key_id: keyId }) };
  /** @type {import('./use-resource.js').Resource<CallPage>} */
  const newest = useResource(`calls ${keyId}`, ({ tool }) => tool('list_calls', args));
  const [known, setKnown] = useState(newest.value ?? NONE);
  const anew = useRef(false);
  const [older, setOlder] = useState({
    loading: false,
    problem: /** @type {import('./problem.js').Problem | null} */ (null),
  });

  useEffect(() => setKnown(NONE), [keyId]);
  useEffect(() => {
    const page = newest.value;
    if (page === null) return;
    const replaces = anew.current;
    anew.current = false;
    setKnown((before) => (replaces ? page : withNewest(before, page)));
  }, [newest.value]);
  const unsettled = known.calls.some(({ outcome }) => outcome === 'running' || outcome === 'pending');
  useEffect(() => {
    if (!unsettled) return undefined;
    const timer = setInterval(() => document.visibilityState === 'visible' && newest.reload(), WATCH_MS);
    return () => clearInterval(timer);
  }, [unsettled, newest.reload]);

  async function loadOlder() {
    setOlder({ loading: true, problem: null });
    /** @type {import('./problem.js').Result<CallPage>} */
    const page = await gateway.tool('list_calls', { ...args, before: known.next });
    setOlder({ loading: false, problem: page.ok ? null : page.problem });
    if (page.ok) setKnown(({ calls }) => ({ calls: [...calls, ...page.value.calls], next: page.value.next }));
  }
  function reload() {
    anew.current = true;
    return newest.reload();
  }

  return { newest: { ...newest, reload }, known, older, loadOlder };
}

/** So many may have come meanwhile that nobody knows what is between: then what was known is let go. */
function withNewest(/** @type {CallPage} */ known, /** @type {CallPage} */ page) {
  const ids = new Set(page.calls.map(({ id }) => id));
  const rest = known.calls.filter(({ id }) => !ids.has(id));
  if (rest.length === known.calls.length) return page;
  return { calls: [...page.calls, ...rest], next: known.next };
}
