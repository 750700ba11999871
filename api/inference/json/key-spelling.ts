const BACKSLASH = 0x5c;
const SMALL_U = 0x75;
const LARGE_A = 0x41;
const LARGE_Z = 0x5a;

/** `other`: not printable ASCII, or with escapes, so that the key may not be the name that it looks like. */
export type KeyLetters = 'small' | 'large' | 'other';

/** The letters of a key between its quotes. */
export function lettersOfKey(bytes: Buffer, startsAt: number, endsAt: number): KeyLetters {
  let letters: KeyLetters = 'small';
  for (let at = startsAt; at < endsAt; at++) {
    const code = bytes[at] ?? 0;
    if (code < 0x20 || code > 0x7e || code === BACKSLASH) return 'other';
    if (code >= LARGE_A && code <= LARGE_Z) letters = 'large';
  }
  return letters;
}

/** The key of a text with its quotes; as it stands where it is no JSON. */
export function decodeKey(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}

/**
 * The plain name that a key with quotes spells with escapes; `null` where it spells none. `"mod\u0065l"` is the key
 * `model`, and a provider would read it so.
 */
export function disguisedName(bytes: Buffer, startsAt: number, endsAt: number): string | null {
  let slashAt = startsAt;
  while (slashAt < endsAt && bytes[slashAt] !== BACKSLASH) slashAt++;
  // Most escapes stand for a letter that no plain name has, and 20,000 keys may have them.
  if (slashAt === endsAt || bytes[slashAt + 1] !== SMALL_U || !isPlainEscape(bytes, slashAt)) return null;
  const name = decodeKey(bytes.toString('utf8', startsAt, endsAt));
  // Go folds these two letters beyond ASCII to plain ones; lower case has folded the Kelvin sign.
  const folded = name.toLowerCase().replaceAll(LONG_S, 's');
  return PLAIN_NAME.test(folded) ? name : null;
}

/** `\u0065`: the only form in which a letter of a plain name can be escaped. */
function isPlainEscape(bytes: Buffer, slashAt: number): boolean {
  const digitsAt = slashAt + '\\u'.length;
  const letter = String.fromCharCode(Number.parseInt(bytes.toString('latin1', digitsAt, digitsAt + 4), 16));
  return letter === LONG_S || letter === KELVIN || PLAIN_NAME.test(letter);
}

const KELVIN = '\u212a';
const LONG_S = '\u017f';
const PLAIN_NAME = /^[\w.-]+$/;
