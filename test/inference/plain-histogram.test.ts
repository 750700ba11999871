import { Histogram, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { PlainHistogram } from '../../api/core/plain-histogram.ts';

it('shows what the library itself would show of the same observations', async () => {
  const options = { name: 'ms', help: 'Milliseconds', buckets: [0.5, 1, 10] };
  const plain = new Registry();
  const theirs = new Registry();
  const ours = new PlainHistogram({ ...options, registers: [plain] });
  const reference = new Histogram({ ...options, registers: [theirs] });
  expect(await plain.metrics()).toBe(await theirs.metrics());
  for (const value of [0, 0.5, 0.6, 1, 9, 10, 10.1, 5_000]) {
    ours.note(value);
    reference.observe(value);
  }
  expect(await plain.metrics()).toBe(await theirs.metrics());
  expect(await plain.metrics()).toContain('ms_bucket{le="10"} 6');
});
