/**
 * The name of a streamed call after one more piece of it. OpenAI writes the name once; some servers repeat the whole name in every
 * piece, and others send it in pieces (`get_`, then `weather`). Python's official client joins what comes and JavaScript's keeps the
 * last, so a name is whole to both only if it is joined before it is shown.
 *
 * @param hasArguments The arguments have begun, so the name is whole.
 */
export function joinedName(known: string, piece: string, hasArguments: boolean): string {
  if (piece === '' || (hasArguments && known !== '')) return known;
  // The lengths come first: to compare each piece with a long name would take quadratic time.
  return piece.length >= known.length && piece.startsWith(known) ? piece : known + piece;
}
