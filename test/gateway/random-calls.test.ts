import { expect, it } from 'vitest';
import { runRandomCalls } from '../random-calls/run-random-calls.ts';

const seed = Number(process.env.SEED || Date.now() % 1_000_000_000);
const calls = Number(process.env.CALLS || 1_000);

it(`of ${calls} random calls (seed ${seed}), each client’s cost is what the ledger charged, to the nano-dollar`, async () => {
  const figures = await runRandomCalls(seed, calls);
  console.log(`seed ${seed}: ${JSON.stringify(figures)}`);
  expect(figures.calls).toBe(calls);
  expect(figures.refused ?? 0).toBeLessThan(calls / 4);
});
