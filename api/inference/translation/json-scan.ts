/** Tells in which piece a JSON object that comes in pieces ends. Each character is looked at once. */
export class JsonScan {
  #depth = 0;
  #begun = false;
  #inString = false;
  #escaped = false;

  /** Whether the object is whole: nothing that comes later belongs to it. */
  get isWhole(): boolean {
    return this.#begun && this.#depth === 0;
  }

  add(text: string): void {
    for (let index = 0; index < text.length; index++) {
      if (this.#escaped) this.#escaped = false;
      else if (this.#inString) this.#inText(text.charCodeAt(index));
      else this.#outside(text.charCodeAt(index));
    }
  }

  #inText(code: number): void {
    if (code === BACKSLASH) this.#escaped = true;
    else if (code === QUOTE) this.#inString = false;
  }

  #outside(code: number): void {
    if (code === QUOTE) this.#inString = true;
    else if (code === BRACE || code === BRACKET) {
      this.#begun = true;
      this.#depth++;
    } else if (code === BRACE_END || code === BRACKET_END) this.#depth--;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;
const BRACE_END = 0x7d;
const BRACKET = 0x5b;
const BRACKET_END = 0x5d;
