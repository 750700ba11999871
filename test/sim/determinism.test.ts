import { expect, test } from 'vitest';
import { digestOf } from './run-history.ts';

test.each([1, 2, 3, 4, 5, 6, 7, 8])('a seed makes the same history every time (seed %i)', async (seed) => {
  const first = await digestOf(seed);
  expect(await digestOf(seed)).toBe(first);
  expect(await digestOf(seed + 1_000_000)).not.toBe(first);
});
