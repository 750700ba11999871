import { isRecord } from '#core/is-record.ts';

/**
 * Lays a piece of a streamed answer over what came before: texts are joined, lists go by the `index` of their entries or
 * grow, everything else is replaced. So a field that appears next month is put together like those of today.
 */
export function mergeDelta(whole: Record<string, unknown>, delta: Readonly<Record<string, unknown>>): void {
  for (const name in delta) {
    const piece = delta[name];
    if (name === '__proto__') continue;
    const known = whole[name];
    if (typeof piece === 'string' && typeof known === 'string') {
      whole[name] = SAID_ONCE.has(name) ? piece : known + piece;
    } else whole[name] = merged(Object.hasOwn(whole, name) ? known : undefined, piece);
  }
}

function merged(known: unknown, piece: unknown): unknown {
  if (known === undefined || known === null) return Array.isArray(piece) ? mergedList([], piece) : piece;
  if (piece === null) return known;
  if (Array.isArray(piece) && Array.isArray(known)) return mergedList(known, piece);
  if (isRecord(piece) && isRecord(known)) mergeDelta(known, piece);
  return isRecord(piece) && isRecord(known) ? known : piece;
}

/** Names of things: repeated by some servers in every piece. */
const SAID_ONCE: ReadonlySet<string> = new Set([
  'id',
  'type',
  'role',
  'name',
  'format',
  'signature',
  'status',
]);

function mergedList(known: unknown[], pieces: readonly unknown[]): unknown[] {
  for (const piece of pieces) {
    const index = isRecord(piece) ? piece.index : undefined;
    const entry =
      index === undefined ? undefined : known.find((each) => isRecord(each) && each.index === index);
    if (isRecord(entry) && isRecord(piece)) mergeDelta(entry, piece);
    else known.push(piece);
  }
  return known;
}
