import { noAnswer, readProblem } from './problem.js';

const NO_ANSWER_AFTER_MS = 10_000;

/**
 * Reads what is everybody's: no key goes along. What the browser has and the gateway says has not changed comes from the
 * browser itself.
 *
 * @template T
 * @param {string} path
 * @returns {Promise<import('./problem.js').Result<T>>}
 */
export async function readPublic(path) {
  try {
    const res = await fetch(`/v1${path}`, { signal: AbortSignal.timeout(NO_ANSWER_AFTER_MS) });
    return res.ok ? { ok: true, value: await res.json() } : readProblem(res);
  } catch {
    return noAnswer();
  }
}
