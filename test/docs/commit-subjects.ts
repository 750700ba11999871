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
export function subjectsSinceRule(): string[] {
  const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' });
  const range = hasCommit(RULE_SINCE) ? [`${RULE_SINCE}..HEAD`] : ['--max-count=1', 'HEAD'];
  return git('log', '--no-merges', '--format=%s', ...range)
    .split('\n')
    .filter((subject) => subject !== '');
}

function hasCommit(id: string): boolean {
  try {
    execFileSync('git', ['-C', root, 'cat-file', '-e', `${id}^{commit}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
