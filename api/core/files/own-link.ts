import { withoutRootDot } from '../host-name.ts';
import { URL_CHARS_MAX } from '../limits.ts';
import { type FileName, parseFileName } from './file-name.ts';
import type { LinkOwner } from './file-store.ts';

/** The part of a link that says which file, or who it belongs to otherwise. What is under its signature its home checks. */
export type OwnLink = { ok: true; name: FileName; query: string } | { ok: false; owner: LinkOwner };

/** @param base - The address below which a store's files stand, with a slash at its end. */
export function parseOwnLink(link: string, base: string): OwnLink {
  if (link.length > URL_CHARS_MAX) return { ok: false, owner: { kind: 'foreign' } };
  const url = URL.parse(link);
  const home = new URL(base);
  if (url === null || placeOf(url) !== placeOf(home)) return { ok: false, owner: { kind: 'foreign' } };
  if (!startsAt(url.pathname, home.pathname)) return { ok: false, owner: { kind: 'foreign' } };
  // To a store the same path in other letters may be the same file: ours are written in one way.
  const name = parseFileName(url.pathname.slice(home.pathname.length));
  const plain = url.hash === '' && url.username === '' && url.password === '';
  if (name === null || name.kind === 'orders' || !plain || !url.pathname.startsWith(home.pathname)) {
    return { ok: false, owner: { kind: 'refused', reason: 'forged' } };
  }
  return { ok: true, name, query: url.search.slice(1) };
}

const placeOf = ({ protocol, hostname, port }: URL): string =>
  `${protocol}//${withoutRootDot(hostname)}:${port}`;

function startsAt(path: string, base: string): boolean {
  try {
    return decodeURIComponent(path).toLowerCase().startsWith(base.toLowerCase());
  } catch {
    // No path of a file, and whoever serves it may read it in any way.
    return true;
  }
}
