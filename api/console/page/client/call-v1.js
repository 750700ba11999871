import { noAnswer, readProblem } from './problem.js';

/**
 * Reads from the gateway's API.
 *
 * @template T
 * @param {string} key
 * @param {string} path
 * @returns {Promise<import('./problem.js').Result<T>>}
 */
export async function readV1(key, path) {
  try {
    const res = await fetch(`/v1${path}`, { headers: { authorization: `Bearer ${key}` } });
    return res.ok ? { ok: true, value: await res.json() } : readProblem(res);
  } catch {
    return noAnswer();
  }
}
