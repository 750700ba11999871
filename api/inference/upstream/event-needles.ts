import { METRICS_NEEDLE, USAGE_NEEDLE } from '../formats/stream-text.ts';
import { ESCAPE_NEEDLE, hasEscapedLetter } from '../json/plain-names.ts';
import { nextErrorName } from '../scrub/scrub-answer.ts';

/** Finds the words that make an event more than a piece of the answer, in the bytes of several events. Most events have none. */
export class EventNeedles {
  readonly #bytes: Buffer;
  #usageAt = -1;
  #metricsAt = -1;
  #errorAt = -1;
  #escapeAt = -1;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Whether none stands in an event. Events are asked about in order, and some of them not at all. */
  missIn(at: number, endsAt: number): boolean {
    const bytes = this.#bytes;
    if (this.#usageAt < at) this.#usageAt = next(bytes, USAGE_NEEDLE, at);
    if (this.#metricsAt < at) this.#metricsAt = next(bytes, METRICS_NEEDLE, at);
    if (this.#errorAt < at) this.#errorAt = nextErrorName(bytes, at);
    if (this.#escapeAt < at) this.#escapeAt = next(bytes, ESCAPE_NEEDLE, at);
    if (Math.min(this.#usageAt, this.#metricsAt, this.#errorAt) <= endsAt) return false;
    return this.#escapeAt >= endsAt || !hasEscapedLetter(bytes, this.#escapeAt, endsAt);
  }
}

/** Returns the place of the next needle; the length where there is none. */
function next(bytes: Buffer, needle: Buffer, from: number): number {
  const at = bytes.indexOf(needle, from);
  return at < 0 ? bytes.length : at;
}
