import { expect, test } from 'vitest';
import { providerSchema } from '../../api/config/provider-file.ts';
import { toProviderSettings } from '../../api/config/to-settings.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { framed } from '../providers/made-up/framed-kind.ts';

/** As if the made-up kind stood in the registry in the place of `openai`. */
const schema = providerSchema({ ...providerKinds, openai: framed });
const base = { id: 'p', kind: 'openai', baseUrl: 'https://stage.example.com/v1' };
const issuesOf = (file: object) =>
  schema.safeParse(file).error?.issues.map(({ path, message }) => [path.join('.'), message]);

test('a kind has its provider name what it needs, and nobody else may', () => {
  expect(schema.parse({ ...base, house: 'globe' })).toMatchObject({ house: 'globe' });
  expect(issuesOf(base)).toEqual([['house', 'is missing: this kind of provider needs it']]);
  expect(issuesOf({ ...base, house: 'Globe 1' })).toEqual([['house', expect.any(String)]]);
  expect(issuesOf({ ...base, kind: 'anthropic', house: 'globe' })).toEqual([
    ['house', 'is not a field of this kind of provider'],
  ]);
  expect(issuesOf({ ...base, house: 'globe', stage: 1 })).toEqual([['', expect.stringContaining('stage')]]);
});

test('a kind without fields of its own has empty settings', () => {
  const file = providerSchema(providerKinds).parse(base);
  expect(toProviderSettings(file, null).settings).toEqual({});
});
