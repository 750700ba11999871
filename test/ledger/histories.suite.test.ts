import { describe, expect, test } from 'vitest';
import { missing } from './history/coverage.ts';
import { runModelHistories } from './history/model-histories.ts';
import { runHistories } from './history/run-histories.ts';

const FIRST_SEED = 1_000_000;

describe('seeded histories', () => {
  test('no history of fifty thousand breaks a promise of the ledger, and together they saw everything', () => {
    const coverage = new Map<string, number>();
    runHistories(FIRST_SEED, 50_000, coverage);
    expect(missing(coverage)).toEqual([]);
  });

  test('no history of five thousand that fast-check makes up breaks a promise of the ledger', () => {
    runModelHistories(5_000);
  });
});
