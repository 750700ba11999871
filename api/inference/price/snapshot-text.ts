import type { ComparedText } from './call-arguments.ts';

/**
 * A plain text that comes in pieces, such as the input of a custom tool, without what its server says twice: some servers send all of
 * the text so far in every piece. A piece is compared only if it is as long as the text before it, so long texts take linear time.
 */
export class SnapshotText {
  readonly #compared: ComparedText;
  /** All that was shown; `null`: it is too long to be compared. */
  #shown: string | null = '';
  #pieces = 0;
  /** A piece that begins with the few characters so far, which chance may explain: the next one tells what it is. */
  #waiting: string | null = null;
  /** The server has sent all of the text so far at least once. */
  #isCumulative = false;

  constructor(compared: ComparedText) {
    this.#compared = compared;
  }

  get isWaiting(): boolean {
    return this.#waiting !== null;
  }

  /** The part of the text that waits, as it is shown if nothing more comes. */
  get rest(): string {
    const waiting = this.#waiting ?? '';
    const shown = this.#shown ?? '';
    const isAgain = shown.length >= BEGIN_CHARS && waiting.length >= TELLING_CHARS;
    return isAgain ? waiting.slice(shown.length) : waiting;
  }

  /** Returns the part of a piece that is shown now. */
  add(text: string): string {
    if (text === '') return '';
    const waiting = this.#waiting;
    if (waiting !== null) {
      this.#waiting = null;
      if (isMore(text, waiting)) this.#isCumulative = true;
      else return this.#show(waiting) + this.add(text);
    }
    const shown = this.#shown;
    if (shown === null || shown === '' || !isAllAgain(text, shown)) return this.#show(text);
    if (this.#isCumulative || isTelling(shown, text, this.#pieces)) {
      this.#isCumulative = true;
      return this.#show(text.slice(shown.length));
    }
    if (text.length === shown.length) return this.#show(text);
    this.#waiting = text;
    return '';
  }

  /** Whether a piece would be shown as it is. */
  passes(text: string): boolean {
    if (text === '') return true;
    const shown = this.#shown ?? '';
    return this.#waiting === null && (shown === '' || !isAllAgain(text, shown));
  }

  /** Counts a piece that is shown as it is. */
  pass(text: string): void {
    this.#show(text);
  }

  /** Takes the part that waits, because nothing more comes. */
  end(): string {
    const { rest } = this;
    this.#waiting = null;
    return this.#show(rest);
  }

  #show(text: string): string {
    if (text === '') return '';
    this.#pieces++;
    if (this.#shown === null) return text;
    this.#compared.charsLeft -= text.length;
    this.#shown = this.#compared.charsLeft < 0 ? null : this.#shown + text;
    return text;
  }
}

const isAllAgain = (text: string, shown: string): boolean =>
  text.length >= shown.length && text.startsWith(shown);
const isMore = (text: string, shown: string): boolean => text.length > shown.length && text.startsWith(shown);

/**
 * Whether a piece that begins with the whole text so far repeats it. A short text, or one of a few letters, may be said again by chance,
 * as a line of dashes is, and so may a text that is the very same piece.
 */
const isTelling = (shown: string, text: string, pieces: number): boolean =>
  shown.length >= TELLING_CHARS &&
  new Set(shown.slice(0, READ_CHARS)).size > FEW_LETTERS &&
  (text.length > shown.length || pieces > FEW_PIECES);

const TELLING_CHARS = 8;
/** A last piece that begins with fewer characters may be more of them: two brackets stand behind each other in many texts. */
const BEGIN_CHARS = 3;
const READ_CHARS = 16;
const FEW_LETTERS = 3;
const FEW_PIECES = 2;
