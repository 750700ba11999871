/** Characters of one piece: with every escape of JSON it stays below the bound of an event. */
const PIECE_CHARS = 64 * 1024;

/** A text in the pieces in which a stream brings it. An empty text has none. */
export function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    let endsAt = Math.min(at + PIECE_CHARS, text.length);
    // Both halves of a surrogate pair belong to one piece.
    if (endsAt < text.length && isHighSurrogate(text.charCodeAt(endsAt - 1))) endsAt++;
    pieces.push(text.slice(at, endsAt));
    at = endsAt;
  }
  return pieces;
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
