import { expect, test } from 'vitest';
import { type MoveCoverage, missingMoves, runMoveHistories } from './move-history.ts';

/** A taste of `move-histories.suite.test.ts`, for every run of the unit tests. */
test('500 histories of trades over two shards, with kills at any moment, lose nothing and double nothing', async () => {
  const coverage: MoveCoverage = new Map();
  await runMoveHistories(1, 500, coverage);
  expect(missingMoves(coverage)).toEqual([]);
});
