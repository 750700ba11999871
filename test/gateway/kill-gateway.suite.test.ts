import { expect, it } from 'vitest';
import { killGateway } from '../support/kill-gateway.ts';

const SEED = Date.now() % 1_000_000;

it(`15 times killed under load, the gateway charged what it showed, once, and held nothing back (seed ${SEED})`, async () => {
  const summary = await killGateway(15, SEED);
  console.log(`seed ${SEED}:`, summary);
  expect(summary.kills).toBe(15);
  // A run that told nothing, or cut nothing, proved nothing.
  expect(summary.callsTold).toBeGreaterThan(100);
  expect(summary.streamsTold).toBeGreaterThan(100);
  expect(summary.callsCut).toBeGreaterThan(15);
});
