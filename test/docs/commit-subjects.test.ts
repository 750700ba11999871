import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { testDataDir } from '../support/data-dir.ts';
import { mergesSince, mergesSinceRule, subjectProblem, subjectsSinceRule } from './commit-subjects.ts';

it('every commit has a short subject with an area in front', () => {
  expect(
    subjectsSinceRule()
      .map(subjectProblem)
      .filter((problem) => problem !== null),
  ).toEqual([]);
});

it('no commit is a merge: changes are rebased', () => {
  expect(mergesSinceRule()).toEqual([]);
});

it('a subject that is too long, or names no area, is named', () => {
  expect(subjectProblem('ledger: refuse a settle from an older epoch')).toBeNull();
  expect(subjectProblem('api/http: close a connection that takes nothing')).toBeNull();
  expect(subjectProblem(`ledger: ${'a'.repeat(70)}`)).toContain('has 78 characters');
  expect(subjectProblem('Fix the ledger')).toContain('names no area');
});

it('a merge commit is named by its subject', async () => {
  await using folder = await testDataDir();
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', folder.path, '-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args], {
      encoding: 'utf8',
    }).trim();
  git('init', '--quiet');
  const tree = git('write-tree');
  const commit = (subject: string, ...parents: string[]): string =>
    git('commit-tree', tree, '-m', subject, ...parents.flatMap((parent) => ['-p', parent]));
  const first = commit('test: begin');
  const merge = commit('Merge a branch', commit('test: one side', first), commit('test: other side', first));
  git('update-ref', 'HEAD', merge);
  expect(mergesSince(folder.path, first)).toEqual(['Merge a branch']);
  git('update-ref', 'HEAD', commit('test: go on', first));
  expect(mergesSince(folder.path, first)).toEqual([]);
});
