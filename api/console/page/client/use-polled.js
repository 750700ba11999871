import { useEffect, useRef, useState } from '/console/vendor/preact-hooks.js';
import { SECOND_MS } from '../lib/time.js';
import { readPublic } from './ask.js';

/** Who got no answer, or a refusal that names no wait, asks less often. */
const AFTER_PROBLEM_MS = 5 * SECOND_MS;

/**
 * @template T
 * @typedef {object} Polled
 * @property {T | null} value What was read last; it stays in sight while reading fails.
 * @property {import('./problem.js').Problem | null} problem Why the last reading failed.
 * @property {() => void} again Reads now.
 */

/**
 * What changes all the time, and is everybody's: read at a pace while somebody looks at the page. What the gateway asks
 * to wait is waited.
 *
 * @template T, [A=T]
 * @param {object} poll
 * @param {string | null} poll.id Of what is read: another one begins anew. `null`: nothing is.
 * @param {number} poll.everyMs
 * @param {(turn: number) => string} poll.path Turns are counted from 0, from the beginning, a failure or a pause.
 * @param {(answer: A, before: T | null) => T} [poll.fold] What is shown of an answer.
 * @returns {Polled<T>}
 */
export function usePolled(poll) {
  const { id, everyMs } = poll;
  const latest = useRef(poll);
  latest.current = poll;
  const [state, setState] = useState(/** @type {State<T>} */ ({ id, ...NOTHING }));
  const next = useRef(() => {});

  useEffect(() => {
    if (id === null) return undefined;
    let over = false;
    let turn = 0;
    let isDue = false;
    let isReading = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    /** @type {T | null} */
    let value = null;
    const { path, fold = (/** @type {any} */ answer) => answer } = latest.current;

    const read = async () => {
      isDue = false;
      isReading = true;
      /** @type {import('./problem.js').Result<A>} */
      const result = await readPublic(path(turn));
      isReading = false;
      if (over) return;
      if (result.ok) value = fold(result.value, value);
      setState({ id, value, problem: result.ok ? null : result.problem });
      turn = result.ok ? turn + 1 : 0;
      timer = setTimeout(next.current, result.ok ? everyMs : waitAfter(result.problem, everyMs));
    };
    const look = () => {
      if (document.visibilityState === 'hidden') turn = 0;
      else if (isDue && !isReading) void read();
    };
    next.current = () => {
      clearTimeout(timer);
      isDue = true;
      look();
    };

    next.current();
    document.addEventListener('visibilitychange', look);
    return () => {
      over = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [id, everyMs]);

  const { value, problem } = state.id === id ? state : NOTHING;
  return { value, problem, again: () => next.current() };
}

/** @template T @typedef {{ id: string | null, value: T | null, problem: import('./problem.js').Problem | null }} State */
const NOTHING = { value: null, problem: null };

/** @param {import('./problem.js').Problem} problem @param {number} everyMs */
const waitAfter = ({ kind, waitMs }, everyMs) =>
  kind === 'wait' ? Math.max(everyMs, waitMs) : Math.max(everyMs, AFTER_PROBLEM_MS);
