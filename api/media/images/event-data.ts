import { MEGABYTE } from '#core/limits.ts';
import { BrokenAnswer } from '../upstream-chunks.ts';

/** The largest event of a stream of images: base64 is a third longer than the image. */
export const IMAGE_EVENT_BYTES = 24 * MEGABYTE;

/** The data of each server-sent event, one whole event at a time. Throws `BrokenAnswer` where one is too long. */
export async function* eventData(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let line: Buffer[] = [];
  let lineBytes = 0;
  let data: Buffer[] = [];
  let dataBytes = 0;
  for await (const chunk of chunks) {
    let at = 0;
    for (let endsAt = chunk.indexOf(LF); endsAt >= 0; endsAt = chunk.indexOf(LF, at)) {
      line.push(chunk.subarray(at, endsAt));
      at = endsAt + 1;
      const whole = withoutReturn(line.length === 1 ? (line[0] ?? EMPTY) : Buffer.concat(line));
      line = [];
      lineBytes = 0;
      if (whole.length > 0) {
        const part = dataOf(whole);
        if (part !== null) {
          data.push(part);
          dataBytes += part.length;
        }
      } else if (data.length > 0) {
        yield data.length === 1
          ? (data[0] ?? EMPTY)
          : Buffer.concat(data.flatMap((part) => [part, LINE_END]));
        data = [];
        dataBytes = 0;
      }
    }
    line.push(chunk.subarray(at));
    lineBytes += chunk.length - at;
    if (lineBytes + dataBytes > IMAGE_EVENT_BYTES || data.length > LINES_MAX)
      throw new BrokenAnswer('too_large');
  }
  // Some servers end without the blank line.
  const last = dataOf(withoutReturn(Buffer.concat(line)));
  if (last !== null) data.push(last);
  if (data.length > 0) yield Buffer.concat(data);
}

const LF = 0x0a;
const CR = 0x0d;
const EMPTY = Buffer.alloc(0);
const LINE_END = Buffer.from('\n');
const FIELD = Buffer.from('data:');
/** Of one event. JSON needs one. */
const LINES_MAX = 64;

const withoutReturn = (line: Buffer): Buffer =>
  line[line.length - 1] === CR ? line.subarray(0, line.length - 1) : line;

const dataOf = (line: Buffer): Buffer | null =>
  line.subarray(0, FIELD.length).equals(FIELD) ? line.subarray(FIELD.length) : null;
