import { noAnswer, readProblem } from './problem.js';

/**
 * Asks the gateway. The result is its answer, or why there is none.
 *
 * @template T
 * @param {string} path
 * @param {RequestInit} request
 * @param {(body: any) => import('./problem.js').Result<T>} [read] Reads the body of a good answer; without it, the body is the value.
 * @returns {Promise<import('./problem.js').Result<T>>}
 */
export async function ask(path, request, read = (value) => ({ ok: true, value })) {
  try {
    const res = await fetch(path, request);
    return res.ok ? read(await res.json()) : readProblem(res);
  } catch {
    return noAnswer();
  }
}

/**
 * Reads from the gateway's API.
 *
 * @template T
 * @param {string} key
 * @param {string} path
 * @returns {Promise<import('./problem.js').Result<T>>}
 */
export const readV1 = (key, path) => ask(`/v1${path}`, { headers: { authorization: `Bearer ${key}` } });

/**
 * Starts something by the gateway's API.
 *
 * @template T
 * @param {string} key
 * @param {string} path
 * @param {object} body
 * @param {Record<string, string>} [headers]
 * @returns {Promise<import('./problem.js').Result<T>>}
 */
export const sendV1 = (key, path, body, headers = {}) =>
  ask(`/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers, authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });

const NO_ANSWER_AFTER_MS = 10_000;

/**
 * Reads what is everybody's: no key goes along. What the browser has and the gateway says has not changed comes from the
 * browser itself.
 *
 * @template T
 * @param {string} path
 * @returns {Promise<import('./problem.js').Result<T>>}
 */
export const readPublic = (path) => ask(`/v1${path}`, { signal: AbortSignal.timeout(NO_ANSWER_AFTER_MS) });
