import type { IncomingHttpHeaders } from 'node:http';

/** One request as it came in. */
export interface SeenRequest {
  method: string;
  /** With its query. */
  path: string;
  headers: IncomingHttpHeaders;
  /** Names and values alternate, in order and in the caller's own spelling. */
  rawHeaders: readonly string[];
  /** Empty until it was read. */
  body: Buffer;
  generationId: string | null;
  /** `hung_up`: its caller went away before the answer was whole. */
  state: 'open' | 'answered' | 'cut' | 'hung_up';
}

export interface RequestLog {
  add(request: SeenRequest): void;
  bodyRead(request: SeenRequest, body: Buffer): void;
  list(): readonly SeenRequest[];
  clear(): void;
}

const REQUESTS_KEPT = 1_000;
const BODY_BYTES_KEPT = 64 * 1024 * 1024;

/** The newest requests, oldest first, within a bound of count and of bytes. */
export function createRequestLog(): RequestLog {
  const seen = new Set<SeenRequest>();
  let bodyBytes = 0;
  function trim(): void {
    for (const oldest of seen) {
      if (seen.size <= REQUESTS_KEPT && bodyBytes <= BODY_BYTES_KEPT) return;
      seen.delete(oldest);
      bodyBytes -= oldest.body.length;
    }
  }
  return {
    add(request) {
      seen.add(request);
      trim();
    },
    bodyRead(request, body) {
      if (!seen.has(request)) return;
      request.body = body;
      bodyBytes += body.length;
      trim();
    },
    list: () => Array.from(seen),
    clear() {
      seen.clear();
      bodyBytes = 0;
    },
  };
}
