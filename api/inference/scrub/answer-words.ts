import { type Hidden, scrubWords, WORDS_CHARS_READ } from './scrub-words.ts';

/** The scrubber takes 70 µs for a short text and 1 ms for 1,000 characters, so these bounds are at most some 20 ms of an answer. */
const ANSWER_TEXTS_MAX = 50;
const ANSWER_CHARS_MAX = 20_000;

/**
 * The provider's words inside one answer, scrubbed. Only so many texts of one answer, or of all events of one stream, pass the scrubber:
 * a provider may write a hundred thousand error texts into one event. A text that is repeated counts once.
 */
export class AnswerWords {
  readonly hidden: Hidden;
  readonly #shown = new Map<string, string | null>();
  #textsLeft = ANSWER_TEXTS_MAX;
  #charsLeft = ANSWER_CHARS_MAX;

  constructor(hidden: Hidden) {
    this.hidden = hidden;
  }

  /** Returns the text as callers may see it; `null`: nothing is left of it; `undefined`: it is not scrubbed, so it must not be shown. */
  scrub(text: string): string | null | undefined {
    // A long text is no key: its hash alone would cost a pass over it.
    const mayRepeat = text.length <= WORDS_CHARS_READ;
    const known = mayRepeat ? this.#shown.get(text) : undefined;
    if (known !== undefined) return known;
    const chars = Math.min(text.length, WORDS_CHARS_READ);
    if (this.#textsLeft === 0 || chars > this.#charsLeft) return undefined;
    this.#textsLeft--;
    this.#charsLeft -= chars;
    const shown = scrubWords(text, this.hidden);
    if (mayRepeat) this.#shown.set(text, shown);
    return shown;
  }
}
