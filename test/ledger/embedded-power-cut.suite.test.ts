import { describe, expect, test } from 'vitest';
import { requireFaultShim } from '../support/power-cut-shim.ts';
import { runPowerCuts } from './embedded-power-cut-run.ts';

const { shim } = requireFaultShim();
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

describe.skipIf(shim === null)(`a power cut (seed ${seed})`, () => {
  const run = { shim: shim ?? '', seed, lives: 3, cuts: 40, failedSyncs: 0 };

  test('at any moment loses nothing that was told, and leaves nothing half done', async () => {
    const summary = await runPowerCuts(run);
    console.info(JSON.stringify(summary));
    expect(summary.problems).toEqual([]);
    expect(summary.cuts).toBeGreaterThan(30);
    expect(summary.told).toBeGreaterThan(1_000);
  });

  test('after syncs that failed loses nothing that was told since', async () => {
    const summary = await runPowerCuts({ ...run, failedSyncs: 3 });
    console.info(JSON.stringify(summary));
    expect(summary.problems).toEqual([]);
    expect(summary.failedSyncs).toBeGreaterThan(3);
  });

  test('is noticed by these tests when the disk does not keep what was synced', async () => {
    const summary = await runPowerCuts({ ...run, lives: 1, cuts: 10, honest: false });
    expect(summary.problems.length).toBeGreaterThan(0);
  });
});
