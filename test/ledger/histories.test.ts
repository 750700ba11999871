import { describe, expect, test } from 'vitest';
import { missing } from './history/coverage.ts';
import { runModelHistories } from './history/model-histories.ts';
import { runHistories } from './history/run-histories.ts';

/** A taste of `histories.suite.test.ts`, for every run of the unit tests. */
describe('seeded histories', () => {
  test('no history of forty steps breaks a promise of the ledger', () => {
    const coverage = new Map<string, number>();
    runHistories(1, 3_000, coverage);
    expect(missing(coverage)).toEqual([]);
  });

  test('no history that fast-check makes up breaks a promise of the ledger', () => {
    runModelHistories(500);
  });
});
