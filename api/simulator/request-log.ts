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

const REQUESTS_KEPT = 1_000;
const BODY_BYTES_KEPT = 64 * 1024 * 1024;

/** The newest requests, oldest first, within a bound of count and of bytes. */
export class RequestLog {
  readonly #seen = new Set<SeenRequest>();
  #bodyBytes = 0;

  add(request: SeenRequest): void {
    this.#seen.add(request);
    this.#trim();
  }

  bodyRead(request: SeenRequest, body: Buffer): void {
    if (!this.#seen.has(request)) return;
    request.body = body;
    this.#bodyBytes += body.length;
    this.#trim();
  }

  list(): readonly SeenRequest[] {
    return Array.from(this.#seen);
  }

  clear(): void {
    this.#seen.clear();
    this.#bodyBytes = 0;
  }

  #trim(): void {
    for (const oldest of this.#seen) {
      if (this.#seen.size <= REQUESTS_KEPT && this.#bodyBytes <= BODY_BYTES_KEPT) return;
      this.#seen.delete(oldest);
      this.#bodyBytes -= oldest.body.length;
    }
  }
}
