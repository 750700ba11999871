import type { Sizes } from './bars.ts';
import type { Target } from './call.ts';
import type { CpuSide } from './cpu-per-call.ts';
import { type Answer, type HttpConnection, openHttpConnection } from './http-connection.ts';
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
  const { host } = new URL(origin);
  const requests = Array.from({ length: Math.min(CALLERS, callersMax) }, (_, index) => {
    const authorization = authorizations[index % authorizations.length] ?? '';
    const path = request.paths[index % request.paths.length] ?? '';
    return bytesOf(host, { ...request, path, headers: { ...request.headers, authorization } });
  });
  const connections = new Map<Buffer, HttpConnection>();
  const connectionOf = (bytes: Buffer): HttpConnection => {
    const known = connections.get(bytes);
    // A server ends what idles for seconds.
    if (known?.isOpen()) return known;
    const made = openHttpConnection(origin, request.expected);
    connections.set(bytes, made);
    return made;
  };
  return {
    name,
    pid,
    warmUpMs,
    settlingMs: 0,
    async load(durationMs) {
      const result = emptyLoad();
      const startedMs = performance.now();
      const isOver = () => performance.now() - startedMs >= durationMs;
      const caller = async (bytes: Buffer): Promise<void> => {
        const connection = connectionOf(bytes);
        let answer: Answer;
        do {
          answer = await connection.ask(bytes);
          count(result, answer);
        } while (answer.status !== 0 && !isOver());
      };
      await Promise.all(requests.map(caller));
      return { ...result, elapsedMs: performance.now() - startedMs };
    },
    async close() {
      for (const connection of connections.values()) connection.close();
    },
  };
}

function count(result: LoadResult, { status, isExpected }: Answer): void {
  result.calls += 1;
  if (isExpected && status === 200) return;
  result.failed += 1;
  result.failures.set(status, (result.failures.get(status) ?? 0) + 1);
}

const CALLERS = 64;

function bytesOf(host: string, { method, path, headers, body }: PlainRequest & { path: string }): Buffer {
  const all = { host, ...headers, ...(body === null ? {} : { 'content-length': Buffer.byteLength(body) }) };
  const lines = Object.entries(all).map(([header, value]) => `${header}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`);
}
