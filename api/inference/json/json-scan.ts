/** Reads a JSON text that may come in pieces. Each character is looked at once. */
export class JsonScan {
  #depth = 0;
  #begun = false;
  #inString = false;
  #escaped = false;

  /** Whether the object is whole: nothing that comes later belongs to it. */
  get isWhole(): boolean {
    return this.#begun && this.#depth === 0;
  }

  /** Whether the text so far ends inside a string. */
  get isInText(): boolean {
    return this.#inString;
  }

  /** Returns how many blanks stand between the parts of JSON in this piece. */
  add(piece: string): number {
    let blanks = 0;
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (this.#escaped) this.#escaped = false;
      else if (code === QUOTE) this.#inString = !this.#inString;
      else if (this.#inString) this.#escaped = code === BACKSLASH;
      else {
        switch (code) {
          case SPACE:
          case LINE_FEED:
          case CARRIAGE_RETURN:
          case TAB:
            blanks++;
            break;
          case BRACE:
          case BRACKET:
            this.#begun = true;
            this.#depth++;
            break;
          case BRACE_END:
          case BRACKET_END:
            this.#depth--;
        }
      }
    }
    return blanks;
  }
}

const SPACE = 0x20;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const TAB = 0x09;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;
const BRACE_END = 0x7d;
const BRACKET = 0x5b;
const BRACKET_END = 0x5d;
