import { execFileSync } from 'node:child_process';
import { root } from './repository-files.ts';

const SUBJECT_CHARS_MAX = 72;
/** The last commit before the rule. */
const RULE_SINCE = '78d8b527';

const AREA = /^[a-z0-9][a-z0-9/_-]*: \S/;

/** What is wrong with a commit's subject, in a sentence; `null`: nothing. */
export function subjectProblem(subject: string): string | null {
  if (subject.length > SUBJECT_CHARS_MAX)
    return `has ${subject.length} characters, the most is ${SUBJECT_CHARS_MAX}: ${subject}`;
  return AREA.test(subject) ? null : `names no area, such as "ledger: …": ${subject}`;
}

/** Every subject since the rule began. A clone without that history has its newest commit checked. */
export const subjectsSinceRule = (): string[] => listCommits(root, RULE_SINCE, '--no-merges', '--format=%s');

/** The subject of every merge commit since the rule began. Changes are rebased, so there should be none. */
export const mergesSinceRule = (): string[] => mergesSince(root, RULE_SINCE);

export const mergesSince = (repository: string, since: string): string[] =>
  listCommits(repository, since, '--merges', '--format=%s');

function listCommits(repository: string, since: string, ...options: string[]): string[] {
  // `HEAD^!` is the newest commit alone.
  const range = hasCommit(repository, since) ? `${since}..HEAD` : 'HEAD^!';
  return execFileSync('git', ['-C', repository, 'log', ...options, range], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '');
}

function hasCommit(repository: string, id: string): boolean {
  try {
    execFileSync('git', ['-C', repository, 'cat-file', '-e', `${id}^{commit}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
