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
  add(text: string): number {
    // The characters of a string are read one by one only slowly where strings of several kinds come, and V8 has several.
    const piece = Buffer.from(text);
    let blanks = 0;
    for (let at = 0; at < piece.length; at++) {
      if (this.#inString) {
        at = this.#readString(piece, at);
        continue;
      }
      switch (piece[at]) {
        case QUOTE:
          this.#inString = true;
          break;
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
    return blanks;
  }

  /** Most of a text is in its strings. @returns The index of the closing quote; a place behind the piece where it has none. */
  #readString(piece: Buffer, from: number): number {
    let at = this.#escaped ? from + 1 : from;
    for (; at < piece.length; at++) {
      const code = piece[at];
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) {
        this.#inString = false;
        this.#escaped = false;
        return at;
      }
    }
    this.#escaped = at > piece.length;
    return at;
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
