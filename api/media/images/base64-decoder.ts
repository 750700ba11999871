/** Base64 as it stands in a JSON text, in pieces of any length. `null`: it is none. */
export class Base64Decoder {
  bytesDecoded = 0;
  /** Characters that do not make whole bytes yet. */
  #carried = '';
  /** An escape that has begun. */
  #escape = '';
  #padded = false;

  /** Whole groups only: what is written again as base64 can simply be joined. */
  write(jsonText: string): Buffer | null {
    const text = this.#plain(jsonText);
    if (text === null) return null;
    const whole = text.length - (text.length % 4);
    this.#carried = text.slice(whole);
    return this.#decode(text.slice(0, whole));
  }

  /** The last piece. Padding may be missing. */
  end(jsonText: string): Buffer | null {
    const text = this.#plain(jsonText);
    if (text === null || this.#escape !== '') return null;
    this.#carried = '';
    return this.#decode(text.length % 4 === 0 ? text : text.padEnd(text.length + 4 - (text.length % 4), '='));
  }

  /** With what was carried, and without what JSON and some encoders put in between. */
  #plain(jsonText: string): string | null {
    let text = this.#escape + jsonText;
    this.#escape = '';
    if (text.includes('\\')) {
      this.#escape = /\\(?:u[\da-f]{0,3})?$/i.exec(text)?.[0] ?? '';
      text = text.slice(0, text.length - this.#escape.length).replace(ESCAPES, signOf);
    }
    return this.#carried + (/\s/.test(text) ? text.replace(/\s+/g, '') : text);
  }

  #decode(groups: string): Buffer | null {
    if (groups === '') return EMPTY;
    if (this.#padded) return null;
    const padding = groups.endsWith('==') ? 2 : groups.endsWith('=') ? 1 : 0;
    this.#padded = padding > 0;
    const bytes = Buffer.from(groups, 'base64');
    // Node passes over what is no base64.
    if (bytes.length !== (groups.length / 4) * 3 - padding) return null;
    this.bytesDecoded += bytes.length;
    return bytes;
  }
}

const EMPTY = Buffer.alloc(0);
/** `\/` of some encoders, `\u002B` of others, line ends of the oldest. What is no escape stays, and is no base64. */
const ESCAPES = /\\(?:([/nrt])|u([\da-f]{4}))/gi;
const signOf = (_: string, sign: string | undefined, code: string | undefined): string =>
  code !== undefined ? String.fromCharCode(Number.parseInt(code, 16)) : sign === '/' ? '/' : '';
