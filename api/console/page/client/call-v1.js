import { noAnswer, readProblem } from './problem.js';

/**
 * Reads from the gateway's API.
 *
 * @template T
 * @param {string} key
 * @param {string} path
 * @returns {Promise<import('./problem.js').Result<T>>}
 */
export const readV1 = (key, path) => askV1(key, path, {});

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
  askV1(key, path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

/**
 * @template T
 * @param {string} key
 * @param {string} path
 * @param {RequestInit & { headers?: Record<string, string> }} request
 * @returns {Promise<import('./problem.js').Result<T>>}
 */
async function askV1(key, path, request) {
  try {
    const headers = { ...request.headers, authorization: `Bearer ${key}` };
    const res = await fetch(`/v1${path}`, { ...request, headers });
    return res.ok ? { ok: true, value: await res.json() } : readProblem(res);
  } catch {
    return noAnswer();
  }
}
