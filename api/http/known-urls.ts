/** Addresses for which a process remembers the handler, and for markets the parsed query. */
export const KNOWN_URLS_MAX = 10_000;
/** Longer addresses are parsed each time. No ordinary one is longer, and a stranger may send 16 KB. */
export const KNOWN_URL_CHARS_MAX = 256;

/**
 * What was found out about an address, for those that pages ask for again and again. All are forgotten at once when there are
 * too many: to forget the oldest alone would cost each look a note of its time.
 */
export class KnownUrls<Found> {
  readonly #found = new Map<string, Found>();

  get(url: string): Found | undefined {
    return this.#found.get(url);
  }

  note(url: string, found: Found): void {
    if (url.length > KNOWN_URL_CHARS_MAX) return;
    if (this.#found.size >= KNOWN_URLS_MAX) this.#found.clear();
    this.#found.set(url, found);
  }
}
