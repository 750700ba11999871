/** A broker's default for one request is a mebibyte, of which the records are most. */
const APPEND_BYTES = 512 * 1024;

/** The same texts in the same order, in portions that a log takes at once. */
export function* inAppends(texts: readonly string[]): Generator<string[]> {
  let portion: string[] = [];
  let bytes = 0;
  for (const text of texts) {
    const size = Buffer.byteLength(text);
    if (bytes + size > APPEND_BYTES && portion.length > 0) {
      yield portion;
      portion = [];
      bytes = 0;
    }
    portion.push(text);
    bytes += size;
  }
  if (portion.length > 0) yield portion;
}
