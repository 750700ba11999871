import { expect, it } from 'vitest';
import type { BillStore } from '#core/bills/bill-store.ts';
import { RECORDED_COSTS_MS, RecordedCosts } from '#core/bills/recorded-costs.ts';
import { createFakeClock } from '../support/fake-clock.ts';

it('has stored all that it was told once it has stopped, also what was on its way', async () => {
  const clock = createFakeClock();
  const stored: string[] = [];
  let write: () => void = () => {};
  const store: BillStore = {
    read: () => Promise.reject(new Error('Nobody reads.')),
    replace: () => Promise.reject(new Error('Nobody compares.')),
    add: (costs) =>
      new Promise((resolve) => {
        write = () => {
          stored.push(...[...costs].map(([id, nanoUsd]) => `${id} ${nanoUsd}`));
          resolve();
        };
      }),
  };
  const costs = new RecordedCosts({ store, clock, log: { info() {}, warn() {}, error() {} } });
  costs.note('router', 5n, 1_000_000n);
  clock.advance(RECORDED_COSTS_MS);
  await Promise.resolve();
  let stopped = false;
  const stop = costs.stop().then(() => {
    stopped = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(stopped).toBe(false);
  write();
  await stop;
  expect(stored).toEqual(['router 5']);
});
