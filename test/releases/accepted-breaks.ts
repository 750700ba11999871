import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Break } from './find-breaks.ts';
import type { DocumentName } from './last-release.ts';

export interface BreakOf extends Break {
  document: DocumentName;
}

const FILE = 'openapi/accepted-breaks.txt';
const COLUMNS = 5;

export const readAcceptedBreaks = (): string =>
  readFileSync(resolve(import.meta.dirname, '../..', FILE), 'utf8');

/** The line that accepts a break, but for its reason. */
const lineOf = ({ document, check, operation, text }: BreakOf): string =>
  [document, check, operation, text].join(' | ');

/** What stops `make check`, in sentences: breaks that nobody has accepted, and lines that accept nothing. */
export function judgeBreaks(breaks: readonly BreakOf[], accepted: string): string[] {
  const made = new Set(breaks.map(lineOf));
  const known = new Set<string>();
  const wrong: string[] = [];
  for (const line of accepted.split('\n').filter((each) => each.trim() !== '' && !each.startsWith('#'))) {
    const columns = line.split(' | ');
    const reason = columns[COLUMNS - 1]?.trim() ?? '';
    const start = columns.slice(0, COLUMNS - 1).join(' | ');
    known.add(start);
    if (columns.length !== COLUMNS || reason === '' || reason === 'REASON')
      wrong.push(`${FILE}: a line is a document, a check, an operation, what it says, and a reason: ${line}`);
    else if (!made.has(start)) wrong.push(`${FILE}: there is no such break (any more), remove it: ${line}`);
  }
  const unmarked = [...made].filter((each) => !known.has(each));
  if (unmarked.length === 0) return wrong;
  return [
    ...wrong,
    'The interface breaks what the last release promised. Where that is on purpose (docs/versioning.md says when it may be),' +
      ` add these lines to ${FILE} with a reason in the place of REASON, and say it in CHANGELOG.md:`,
    ...unmarked.map((each) => `${each} | REASON`),
  ];
}
