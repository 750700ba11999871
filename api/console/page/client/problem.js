/**
 * Why something could not be done, as a value: what the gateway says, in its words, and what follows from it.
 *
 * - `unauthorized`: the key is wrong or revoked; nothing else will work with it either.
 * - `wait`: the same request will do after `waitMs`.
 * - `refused`: it will not, until something is changed.
 * - `unknown`: no answer came, so nobody knows whether it was done.
 *
 * @typedef {object} Problem
 * @property {'unauthorized' | 'wait' | 'refused' | 'unknown'} kind
 * @property {string} message
 * @property {string | null} code
 * @property {number} waitMs
 */

/**
 * @template T
 * @typedef {{ ok: true, value: T } | { ok: false, problem: Problem }} Result
 */

const NO_WAIT_SAID_MS = 2000;
const NO_ANSWER =
  'No answer came from the gateway. Check your connection; if you were changing something, look whether it was done.';

/**
 * @param {Problem['kind']} kind
 * @param {string} message
 * @param {string | null} [code]
 * @param {number} [waitMs]
 * @returns {{ ok: false, problem: Problem }}
 */
export const problem = (kind, message, code = null, waitMs = 0) => ({
  ok: false,
  problem: { kind, message, code, waitMs },
});

export const noAnswer = () => problem('unknown', NO_ANSWER);

/**
 * An answer that is no success, whichever of the two doors it came from: both say why in JSON.
 *
 * @param {Response} res
 * @returns {Promise<{ ok: false, problem: Problem }>}
 */
export async function readProblem(res) {
  const { message, code } = wordsOf(await readJson(res));
  if (res.status === 401) {
    return problem('unauthorized', message ?? 'The gateway does not know this key.', code);
  }
  if (res.status === 429 || res.status === 503) {
    // A wait of hours says so: nobody should be kept in front of a countdown.
    const waits = res.headers.get('x-should-retry') !== 'false';
    return problem(waits ? 'wait' : 'refused', message ?? 'The gateway is busy.', code, waitOf(res.headers));
  }
  return problem('refused', message ?? `The gateway answered ${res.status}.`, code);
}

/** @param {Headers} headers */
const waitOf = (headers) =>
  Number(headers.get('retry-after-ms')) || Number(headers.get('retry-after')) * 1000 || NO_WAIT_SAID_MS;

/** @param {Response} res @returns {Promise<unknown>} */
const readJson = (res) => res.json().catch(() => null);

/** @param {any} body @returns {{ message: string | null, code: string | null }} */
function wordsOf(body) {
  const error = body?.error;
  if (typeof error === 'string') {
    return { message: textOf(body.error_description) ?? textOf(body.message), code: error };
  }
  return { message: textOf(error?.message), code: textOf(error?.code) };
}

/** @param {unknown} value */
const textOf = (value) => (typeof value === 'string' ? value : null);
