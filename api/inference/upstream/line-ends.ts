/**
 * Lines of event streams end in LF, CRLF or CR, and a mark of the byte order may stand before the first: all that comes
 * out ends its lines in LF. JSON holds no bare carriage return, so each of them is a line's end.
 */
export class LineEnds {
  /** Of the mark, the bytes that were left out so far. */
  #markBytes = 0;
  /** The chunk before ended in CR: an LF at the start of the next belongs to it. */
  #endedInCr = false;

  /** The same lines; empty where nothing is left. */
  read(chunk: Buffer): Buffer {
    const from = this.#markBytes < MARK.length ? this.#skipMark(chunk) : 0;
    const startsAt = this.#endedInCr && chunk[from] === LF ? from + 1 : from;
    const bytes = startsAt === 0 ? chunk : chunk.subarray(startsAt);
    this.#endedInCr = bytes[bytes.length - 1] === CR;
    return bytes.includes(CR) ? inLineFeeds(bytes) : bytes;
  }

  #skipMark(chunk: Buffer): number {
    let at = 0;
    while (at < chunk.length && this.#markBytes < MARK.length && chunk[at] === MARK[this.#markBytes]) {
      this.#markBytes++;
      at++;
    }
    // Anything else than the mark is the first line.
    if (at < chunk.length) this.#markBytes = MARK.length;
    return at;
  }
}

/** Text without a mark of the byte order before it, as clients read it. */
export const withoutMark = (bytes: Buffer): Buffer =>
  bytes.subarray(0, MARK.length).equals(MARK) ? bytes.subarray(MARK.length) : bytes;

const LF = 0x0a;
const CR = 0x0d;
const MARK = Buffer.from([0xef, 0xbb, 0xbf]);

function inLineFeeds(bytes: Buffer): Buffer {
  const lines = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? LF;
    if (byte !== CR) lines[length++] = byte;
    else if (bytes[at + 1] !== LF) lines[length++] = LF;
  }
  return lines.subarray(0, length);
}
