import { Agent, type Dispatcher, request } from 'undici';
import type { Clock } from '../clock.ts';
import { CATALOG_FETCH_MS, CONNECT_TIMEOUT_MS } from '../limits.ts';
import { parseJson } from '../parse-json.ts';
import { readBounded } from '../read-bounded.ts';
import { type FetchProviderJson, ProviderAnswerError } from './import-source.ts';
import { jsonGet, preparedUntil } from './prepared-request.ts';

/** The largest answer of a provider's list. */
export const CATALOG_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Reads JSON from a provider: 200 only, no redirects, bounded in time and size. Errors say what happened in
 * words for the operator and hold neither the key nor anything that the provider wrote.
 */
export function createFetchProviderJson(clock: Clock, timeoutMs = CATALOG_FETCH_MS): FetchProviderJson {
  return async (provider, path) => {
    // One agent per fetch: hourly work keeps no connection open in between.
    const agent = new Agent({ allowH2: false, connect: { timeout: CONNECT_TIMEOUT_MS } });
    const abort = new AbortController();
    let late = false;
    const timer = clock.setTimer(timeoutMs, () => {
      late = true;
      abort.abort();
    });
    try {
      const { path: asked, headers } = await preparedUntil(abort.signal, provider, jsonGet(path));
      const answer = await request(provider.baseUrl + asked, {
        dispatcher: agent,
        signal: abort.signal,
        headers,
      });
      return await readJson(answer);
    } catch (error) {
      if (late) throw new Error(`No whole answer within ${timeoutMs / 1000} s.`);
      if (error instanceof ProviderAnswerError) throw error;
      throw new Error(`The provider cannot be reached (${errorCode(error)}).`);
    } finally {
      timer.cancel();
      await agent.destroy();
    }
  };
}

async function readJson(answer: Dispatcher.ResponseData): Promise<unknown> {
  if (answer.statusCode !== 200) {
    throw new ProviderAnswerError(`The provider answered ${answer.statusCode}.`, answer.statusCode);
  }
  const bytes = await readBounded(answer.body, CATALOG_BYTES_MAX);
  if (bytes === null) throw new ProviderAnswerError(`The answer is larger than ${CATALOG_BYTES_MAX} bytes.`);
  const value = parseJson(bytes.toString('utf8'));
  if (value === undefined) throw new ProviderAnswerError('The answer is not JSON.');
  return value;
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'no code';
}
