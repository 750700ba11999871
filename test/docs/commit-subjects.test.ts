import { expect, it } from 'vitest';
import { subjectProblem, subjectsSinceRule } from './commit-subjects.ts';

it('every commit has a short subject with an area in front', () => {
  expect(
    subjectsSinceRule()
      .map(subjectProblem)
      .filter((problem) => problem !== null),
  ).toEqual([]);
});

it('a subject that is too long, or names no area, is named', () => {
  expect(subjectProblem('ledger: refuse a settle from an older epoch')).toBeNull();
  expect(subjectProblem('api/http: close a connection that takes nothing')).toBeNull();
  expect(subjectProblem(`ledger: ${'a'.repeat(70)}`)).toContain('has 78 characters');
  expect(subjectProblem('Fix the ledger')).toContain('names no area');
});
