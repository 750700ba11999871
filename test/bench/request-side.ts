import { type Dispatcher, Pool } from 'undici';
import type { Sizes } from './bars.ts';
import type { Target } from './call.ts';
import type { CpuSide } from './cpu-per-call.ts';
import { emptyLoad, type LoadResult } from './load.ts';

/** A request that is answered by itself: no model, no money. */
export interface PlainRequest {
  method: 'GET' | 'POST';
  /** One caller after the other takes the next, as it does with the keys. */
  paths: readonly string[];
  headers: Record<string, string>;
  body: string | null;
  /** The answer has these bytes in it, or has failed. */
  expected: string;
}

/** So many callers at once, each with the same request again and again, by one key after the other. */
export function requestSide(
  { name, pid, origin, authorizations }: Target,
  request: PlainRequest,
  { warmUpMs, callersMax }: Pick<Sizes, 'warmUpMs' | 'callersMax'>,
): CpuSide {
  const pool = new Pool(origin, { allowH2: false });
  return {
    name,
    pid,
    warmUpMs,
    async load(durationMs) {
      const result = emptyLoad();
      const startedMs = performance.now();
      const isOver = () => performance.now() - startedMs >= durationMs;
      const caller = async (_: unknown, index: number): Promise<void> => {
        const authorization = authorizations[index % authorizations.length] ?? '';
        const path = request.paths[index % request.paths.length] ?? '';
        const ofCaller = { ...request, path, headers: { ...request.headers, authorization } };
        do await ask(pool, ofCaller, result);
        while (!isOver());
      };
      await Promise.all(Array.from({ length: Math.min(CALLERS, callersMax) }, caller));
      return { ...result, elapsedMs: performance.now() - startedMs };
    },
    close: () => pool.close(),
  };
}

const CALLERS = 64;

function ask(
  pool: Pool,
  { expected, method, path, headers, body }: PlainRequest & { path: string },
  result: LoadResult,
): Promise<void> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let status = 0;
    const end = (isWhole: boolean): void => {
      result.calls += 1;
      if (!isWhole || status !== 200 || !Buffer.concat(chunks).includes(expected)) {
        result.failed += 1;
        result.failures.set(status, (result.failures.get(status) ?? 0) + 1);
      }
      resolve();
    };
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart() {},
      onResponseStart(_controller, statusCode) {
        status = statusCode;
      },
      onResponseData: (_controller, chunk) => void chunks.push(chunk),
      onResponseEnd: () => end(true),
      onResponseError: () => end(false),
    };
    pool.dispatch({ method, path, headers, body }, handler);
  });
}
