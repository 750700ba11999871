import { expect, it } from 'vitest';
import { killGateway } from '../support/kill-gateway.ts';

const KILLS = 6;
const SEED = Date.now() % 1_000_000;

it(`${KILLS} times killed under load, the gateway charged what it showed, once, and held nothing back (seed ${SEED})`, async () => {
  const summary = await killGateway(KILLS, SEED);
  console.log(`seed ${SEED}:`, summary);
  expect(summary.kills).toBe(KILLS);
  // A run that told nothing, or cut nothing, proved nothing.
  expect(summary.callsTold).toBeGreaterThanOrEqual(50);
  expect(summary.streamsTold).toBeGreaterThanOrEqual(50);
  expect(summary.callsCut).toBeGreaterThan(KILLS);
});
