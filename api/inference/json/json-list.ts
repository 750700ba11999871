const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * The texts of a JSON list's entries, so that some can be replaced while the others pass as they were sent: printed anew,
 * numbers would change. For text that was parsed before; `null`: no list.
 */
export function splitJsonList(text: string): string[] | null {
  const list = text.trim();
  if (list.charCodeAt(0) !== OPEN_BRACKET) return null;
  const entries: string[] = [];
  let depth = 0;
  let startsAt = 1;
  for (let at = 0; at < list.length; at++) {
    switch (list.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(list, at);
        break;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        depth++;
        break;
      case COMMA:
        if (depth > 1) break;
        entries.push(list.slice(startsAt, at).trim());
        startsAt = at + 1;
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth--;
    }
  }
  const last = list.slice(startsAt, -1).trim();
  return last === '' ? entries : [...entries, last];
}

/** The index of the closing quote of a string that begins at `openedAt`. */
export function endOfString(text: string, openedAt: number): number {
  let at = openedAt + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
