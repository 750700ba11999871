import { expect, it } from 'vitest';
import { killGateway } from '../support/kill-gateway.ts';

const SEED = Date.now() % 1_000_000;

it(`8 times killed under load, the gateway charged what it showed, once, and held nothing back (seed ${SEED})`, async () => {
  const summary = await killGateway(8, SEED);
  console.log(`seed ${SEED}:`, summary);
  expect(summary.kills).toBe(8);
  // A run that told nothing, or cut nothing, proved nothing.
  expect(summary.callsTold).toBeGreaterThan(50);
  expect(summary.streamsTold).toBeGreaterThan(50);
  expect(summary.callsCut).toBeGreaterThan(8);
});
