import { describe, expect, test } from 'vitest';
import { requireFaultShim } from '../support/power-cut-shim.ts';
import { diskFaults, runFaults } from './embedded-fault-run.ts';

const { shim } = requireFaultShim();
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

describe.skipIf(shim === null)(`a ledger under load (seed ${seed})`, () => {
  test.each(diskFaults)(
    'and $name: it comes back by itself and loses nothing that it told',
    async (fault) => {
      const summary = await runFaults(shim ?? '', seed, 1, [fault]);
      expect(summary.problems).toEqual([]);
      expect(summary.told).toBeGreaterThan(100);
    },
  );
});
