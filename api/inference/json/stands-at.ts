/** From this length on a comparison by native code takes less time than a loop. */
const NATIVE_FROM_BYTES = 200;

/** Whether a part stands at a place of some bytes. Each event of a stream is compared with short parts. */
export function standsAt(bytes: Buffer, at: number, part: Buffer): boolean {
  const { length } = part;
  if (at < 0 || at + length > bytes.length) return false;
  if (length >= NATIVE_FROM_BYTES) return bytes.compare(part, 0, length, at, at + length) === 0;
  for (let of = 0; of < length; of++) if (bytes[at + of] !== part[of]) return false;
  return true;
}
