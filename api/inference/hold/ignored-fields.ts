/** Bytes of the header at most: some proxies refuse a head that is much longer than usual. */
const HEADER_BYTES_MAX = 1024;
const MORE = '...';

/** Names the fields of the request that the provider was not sent; nothing where it was sent all. */
export function ignoredHeader(names: readonly string[]): { 'x-ignored-fields'?: string } {
  if (names.length === 0) return {};
  let shown = '';
  for (const name of names) {
    const next = `${shown === '' ? '' : ', '}${percentEncoded(name)}`;
    if (shown.length + next.length + MORE.length + 2 > HEADER_BYTES_MAX) {
      shown += shown === '' ? MORE : `, ${MORE}`;
      break;
    }
    shown += next;
  }
  return { 'x-ignored-fields': shown };
}

/** Letters, digits and the signs of a path stay as they are. A half of a surrogate pair has no bytes of its own. */
const percentEncoded = (name: string): string =>
  name.toWellFormed().replaceAll(/[^\w.[\]-]+/g, (other) => encodeURIComponent(other));
