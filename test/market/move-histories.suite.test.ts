import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { type MoveCoverage, missingMoves, runMoveHistories } from './move-history.ts';

const HISTORIES = 10_000;

test('10,000 histories of trades over two shards, with kills at any moment, lose nothing and double nothing', async () => {
  const seed = Math.floor(systemClock.now() / 1_000) % 1_000_000_000;
  console.log(`seed ${seed}`);
  const coverage: MoveCoverage = new Map();
  await runMoveHistories(seed, HISTORIES, coverage);
  console.log(Object.fromEntries(coverage));
  expect(missingMoves(coverage)).toEqual([]);
});
