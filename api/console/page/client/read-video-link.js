import { problem, readProblem } from './problem.js';

/** A browser does not tell a page which of these it was. */
const NOT_FOLLOWED =
  'The file could not be reached. Check your connection; where files are kept in an S3 store, its bucket needs a CORS rule that lets this page GET.';

/**
 * The link, good for an hour, under which a made video lies. A page may not see where it is sent on to, only where it has
 * arrived: so it goes there, and leaves before the file comes. The player then asks for the pieces that it needs.
 *
 * @param {string} key
 * @param {string} id
 * @returns {Promise<import('./problem.js').Result<string>>}
 */
export async function readVideoLink(key, id) {
  const leaving = new AbortController();
  try {
    const res = await fetch(`/v1/videos/${id}/content`, {
      headers: { authorization: `Bearer ${key}` },
      signal: leaving.signal,
    });
    if (res.redirected && res.ok) return { ok: true, value: res.url };
    if (res.redirected)
      return problem('refused', `The file could not be read: its store answered ${res.status}.`);
    return await readProblem(res);
  } catch {
    return problem('unknown', NOT_FOLLOWED);
  } finally {
    leaving.abort();
  }
}
