import { expect, test } from 'vitest';
import { hasReservedSuffix, splitModelId } from '#core/catalog/model-id.ts';

test.each<[string, string, string[]]>([
  ['openai/gpt-4o', 'openai/gpt-4o', []],
  ['openai/gpt-4o:online', 'openai/gpt-4o', ['online']],
  ['x/y:free:online', 'x/y', ['free', 'online']],
  ['local:8b', 'local', ['8b']],
  ['http://host:80/model:nitro', 'http://host:80/model', ['nitro']],
  ['a:b/c', 'a:b/c', []],
  ['x/y:', 'x/y', ['']],
  ['', '', []],
])('%s is split at the colons after the last slash', (id, base, suffixes) => {
  expect(splitModelId(id)).toEqual({ base, suffixes });
});

test('an id with a suffix that means something else anywhere cannot be served', () => {
  expect(
    ['a:online', 'a/b:nitro', 'a:floor', 'a:exacto', 'a:8b:free', 'a:batch:8b'].every(hasReservedSuffix),
  ).toBe(true);
  expect(['a', 'free', 'free/a', 'a:thinking', 'a:free/b'].some(hasReservedSuffix)).toBe(false);
});
