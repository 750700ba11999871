import { expect, test } from 'vitest';
import { inAppends } from '#core/ledger/cluster/in-appends.ts';

test('an outbox of any size goes to the log in order, in portions below a mebibyte', () => {
  const texts = Array.from({ length: 3_000 }, (_, i) => `${i} ${'é'.repeat(i % 700)}`);
  const portions = [...inAppends(texts)];
  expect(portions.flat()).toEqual(texts);
  for (const portion of portions) expect(Buffer.byteLength(portion.join(''))).toBeLessThan(1024 * 1024);
  expect(portions.length).toBeLessThan(10);
  expect([...inAppends([])]).toEqual([]);
  expect([...inAppends(['x'.repeat(600 * 1024), 'y'])]).toHaveLength(2);
});
