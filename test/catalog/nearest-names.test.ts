import { expect, test } from 'vitest';
import { createNearestNames } from '#core/catalog/nearest-names.ts';

const nearest = createNearestNames([
  'openai/gpt-4o',
  'openai/gpt-4o-mini',
  'openai/gpt-4.1',
  'anthropic/claude-sonnet-5',
  'google/gemini-3-flash',
  'acme/small',
]);

test.each<[string, string]>([
  ['openai/gpt-4o-mnii', 'openai/gpt-4o-mini'],
  ['gpt-4o', 'openai/gpt-4o'],
  ['opnai/gpt4o', 'openai/gpt-4o'],
  ['OpenAI/GPT-4.1', 'openai/gpt-4.1'],
  ['claude-sonnet', 'anthropic/claude-sonnet-5'],
  ['google/gemini-flash', 'google/gemini-3-flash'],
  ['smal', 'acme/small'],
])('%s was meant as %s', (wanted, meant) => {
  expect(nearest(wanted)[0]).toBe(meant);
});

test('at most three names, and none for something else altogether', () => {
  const many = createNearestNames(Array.from({ length: 50 }, (_, at) => `acme/model-${at}`));
  expect(many('acme/model')).toHaveLength(3);
  expect(nearest('zzz')).toEqual([]);
  expect(nearest('')).toEqual([]);
  expect(createNearestNames([])('a')).toEqual([]);
});

test('names that are equally near come in the order of the alphabet', () => {
  expect(createNearestNames(['b/model', 'a/model'])('model')).toEqual(['a/model', 'b/model']);
});
