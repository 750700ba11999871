import { isRecord } from '#core/is-record.ts';

/**
 * Lays a piece of a streamed answer over what came before: texts are joined, lists go by the `index` of their entries or
 * grow, everything else is replaced. So a field that appears next month is put together like those of today.
 */
export function mergeDelta(whole: Record<string, unknown>, delta: Readonly<Record<string, unknown>>): void {
  for (const [name, piece] of Object.entries(delta)) {
    // As data, whatever its name: `__proto__` would be the object's own.
    const known = Object.hasOwn(whole, name) ? whole[name] : undefined;
    Object.defineProperty(whole, name, {
      value: merged(name, known, piece),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
}

function merged(name: string, known: unknown, piece: unknown): unknown {
  if (known === undefined || known === null) return Array.isArray(piece) ? mergedList([], piece) : piece;
  if (piece === null) return known;
  if (typeof piece === 'string' && typeof known === 'string')
    return SAID_ONCE.has(name) ? piece : known + piece;
  if (Array.isArray(piece) && Array.isArray(known)) return mergedList(known, piece);
  if (isRecord(piece) && isRecord(known)) {
    mergeDelta(known, piece);
    return known;
  }
  return piece;
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
    const place = known.findIndex((each) => isRecord(each) && index !== undefined && each.index === index);
    const entry = known[place];
    if (isRecord(entry) && isRecord(piece)) mergeDelta(entry, piece);
    else known.push(piece);
  }
  return known;
}
