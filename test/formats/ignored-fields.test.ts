import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ignoredHeader } from '../../api/inference/hold/ignored-fields.ts';

const BYTES_MAX = 1_024;

describe('the header that names fields which are left out', () => {
  it('is none where nothing is', () => {
    expect(ignoredHeader([])).toEqual({});
  });

  it('has them as the caller wrote them', () => {
    expect(ignoredHeader(['seed', 'messages[0].name'])).toEqual({
      'x-ignored-fields': 'seed, messages[0].name',
    });
  });

  it('is printable and at most 1 KiB long, whatever a caller calls its fields, and says when there are more', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary', minLength: 1, maxLength: 400 }), { minLength: 1 }),
        (names) => {
          const header = ignoredHeader(names)['x-ignored-fields'] ?? '';
          expect(header.length).toBeLessThanOrEqual(BYTES_MAX);
          expect(header).toMatch(/^[\x21-\x7e]+(?:, [\x21-\x7e]+)*$/);
          const shown = header.split(', ');
          const isCut = shown.at(-1) === '...' && shown.length - 1 < names.length;
          const told = isCut ? shown.slice(0, -1) : shown;
          expect(told.map(decodeURIComponent)).toEqual(
            names.slice(0, told.length).map((name) => name.toWellFormed()),
          );
          expect(isCut || told.length === names.length).toBe(true);
        },
      ),
    );
  });
});
