import { expect, test } from 'vitest';
import { runKillRounds } from './kill-rounds.ts';

const KILLS = 6;
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

test(`after ${KILLS} kills at random moments nothing told is lost, doubled or stuck (seed ${seed})`, async () => {
  const summary = await runKillRounds(KILLS, seed);
  console.info(JSON.stringify({ seed, ...summary }));
  expect(summary.problems).toEqual([]);
  expect(summary.kills).toBe(KILLS);
  // A run that saw nothing proves nothing.
  expect(summary.charges).toBeGreaterThan(KILLS * 10);
  expect(summary.crashedCalls).toBeGreaterThan(KILLS);
});
