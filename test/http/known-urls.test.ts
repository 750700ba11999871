import { expect, test } from 'vitest';
import { KNOWN_URL_CHARS_MAX, KNOWN_URLS_MAX, KnownUrls } from '../../api/http/known-urls.ts';

test('what was found out about an address is known the next time', () => {
  const known = new KnownUrls<string>();
  known.note('/v1/dex/markets/credit-2026-11-30/book', 'book');
  expect(known.get('/v1/dex/markets/credit-2026-11-30/book')).toBe('book');
  expect(known.get('/v1/dex/markets/credit-2026-12-01/book')).toBeUndefined();
});

test('strangers who ask for ever other addresses take no more memory than the limits say', () => {
  const known = new KnownUrls<number>();
  const addressOf = (index: number): string => `/v1/dex/markets/${index}/book`;
  for (let i = 0; i <= KNOWN_URLS_MAX; i++) known.note(addressOf(i), i);
  const all = Array.from({ length: KNOWN_URLS_MAX + 1 }, (_, i) => known.get(addressOf(i)));
  expect(all.filter((found) => found !== undefined)).toEqual([KNOWN_URLS_MAX]);
});

test('an address that is too long is not remembered and costs no other its place', () => {
  const known = new KnownUrls<string>();
  known.note('/a', 'short');
  known.note(`/${'b'.repeat(KNOWN_URL_CHARS_MAX)}`, 'long');
  expect(known.get(`/${'b'.repeat(KNOWN_URL_CHARS_MAX)}`)).toBeUndefined();
  expect(known.get('/a')).toBe('short');
});
