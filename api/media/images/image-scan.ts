import { ANSWER_DEPTH_MAX, IMAGE_BYTES_MAX } from '#core/limits.ts';
import { parseJson } from '#core/parse-json.ts';
import { BrokenAnswer } from '../upstream-chunks.ts';
import { Base64Decoder } from './base64-decoder.ts';

/** The largest answer without its images. */
export const IMAGE_FRAME_BYTES = 256 * 1024;

/**
 * Reads a provider's JSON piece by piece. Each image is handed out decoded, as it comes; the rest is kept, and is small.
 * So no image is ever whole in memory. Throws `BrokenAnswer`.
 */
export class ImageScan {
  readonly #chunks: AsyncIterator<Buffer>;
  #chunk: Buffer = EMPTY;
  #at = 0;
  /** Brackets that are open. */
  #open = '';
  #expectsKey = false;
  /** Of each open object, by its depth: the member that is being read. */
  readonly #keys: string[] = [];
  #string: OpenString | null = null;
  readonly #frame: Buffer[] = [];
  #frameBytes = 0;
  /** Of the image that is being read; `null`: none is. */
  #decoder: Base64Decoder | null = null;

  readonly #place: 'answer' | 'event';

  /** @param place - Images stand at `data[…].b64_json` of an answer, or at `b64_json` of an event of a stream. */
  constructor(chunks: AsyncIterable<Buffer>, place: 'answer' | 'event' = 'answer') {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#place = place;
  }

  /** The answer with an empty text in the place of each image: whole once `nextImage` has answered false. */
  get frame(): string {
    return Buffer.concat(this.#frame).toString('utf8');
  }

  /** Moves on to the next image, past what is left of the one before. False: the answer has ended. */
  async nextImage(): Promise<boolean> {
    while ((await this.readImage()) !== null);
    while (this.#at < this.#chunk.length || (await this.#readChunk())) if (this.#findImage()) return true;
    return false;
  }

  /** More of the present image; `null`: it has ended. */
  async readImage(): Promise<Buffer | null> {
    while (this.#decoder !== null) {
      if (this.#at >= this.#chunk.length && !(await this.#readChunk())) throw new BrokenAnswer('cut');
      const bytes = this.#decodeChunk(this.#decoder);
      if (bytes.length > 0) return bytes;
    }
    return null;
  }

  #decodeChunk(decoder: Base64Decoder): Buffer {
    const quoteAt = this.#chunk.indexOf(QUOTE, this.#at);
    const endsAt = quoteAt < 0 ? this.#chunk.length : quoteAt;
    const text = this.#chunk.toString('latin1', this.#at, endsAt);
    const bytes = quoteAt < 0 ? decoder.write(text) : decoder.end(text);
    if (bytes === null) throw new BrokenAnswer('malformed');
    if (decoder.bytesDecoded > IMAGE_BYTES_MAX) throw new BrokenAnswer('too_large');
    this.#at = endsAt;
    if (quoteAt >= 0) {
      this.#at++;
      this.#decoder = null;
    }
    return bytes;
  }

  /** False: there is none before the end of this chunk. */
  #findImage(): boolean {
    const startedAt = this.#at;
    while (this.#at < this.#chunk.length && this.#decoder === null) this.#step(this.#chunk[this.#at++] ?? 0);
    this.#keep(this.#chunk.subarray(startedAt, this.#at));
    if (this.#decoder === null) return false;
    this.#keep(CLOSING_QUOTE);
    return true;
  }

  /** Only as much of JSON's grammar as tells where an image stands: the frame is parsed by itself. */
  #step(byte: number): void {
    if (this.#string !== null) {
      this.#stepInString(this.#string, byte);
      return;
    }
    switch (byte) {
      case QUOTE:
        if (!this.#expectsKey && this.#isAtImage()) this.#decoder = new Base64Decoder();
        else this.#string = { isKey: this.#expectsKey, codes: [], escaped: false };
        return;
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        if (this.#open.length >= ANSWER_DEPTH_MAX) throw new BrokenAnswer('malformed');
        this.#open += String.fromCharCode(byte);
        this.#expectsKey = byte === OPEN_OBJECT;
        return;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        this.#open = this.#open.slice(0, -1);
        this.#expectsKey = false;
        return;
      case COMMA:
        this.#expectsKey = this.#open.endsWith('{');
        return;
      case COLON:
        this.#expectsKey = false;
    }
  }

  #stepInString(string: OpenString, byte: number): void {
    if (byte === QUOTE && !string.escaped) {
      this.#string = null;
      if (string.isKey) this.#keys[this.#open.length] = keyOf(string.codes);
      return;
    }
    string.escaped = !string.escaped && byte === BACKSLASH;
    if (string.isKey && string.codes.length < KEY_BYTES_MAX) string.codes.push(byte);
  }

  #isAtImage(): boolean {
    if (this.#place === 'event') return this.#open === '{' && this.#keys[1] === 'b64_json';
    return this.#open === '{[{' && this.#keys[1] === 'data' && this.#keys[3] === 'b64_json';
  }

  #keep(bytes: Buffer): void {
    this.#frameBytes += bytes.length;
    if (this.#frameBytes > IMAGE_FRAME_BYTES) throw new BrokenAnswer('too_large');
    // A part of a chunk would keep the whole chunk.
    this.#frame.push(Buffer.from(bytes));
  }

  async #readChunk(): Promise<boolean> {
    const { done, value } = await this.#chunks.next();
    if (done === true) return false;
    this.#chunk = value;
    this.#at = 0;
    return true;
  }
}

interface OpenString {
  isKey: boolean;
  codes: number[];
  escaped: boolean;
}

const EMPTY = Buffer.alloc(0);
const CLOSING_QUOTE = Buffer.from('"');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;
/** No name that is looked for is longer, escapes included. */
const KEY_BYTES_MAX = 64;

function keyOf(codes: readonly number[]): string {
  const text = Buffer.from(codes).toString('utf8');
  return text.includes('\\') ? String(parseJson(`"${text}"`)) : text;
}
