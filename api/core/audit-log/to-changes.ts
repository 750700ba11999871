import { z } from 'zod';
import type { AuditedChange, AuditLine, AuditPage, AuditSubject } from './audit-log.ts';

/** Enough of them, newest first, for a page's changes: the one that may be cut is not among these. */
export const linesOf = ({ limit }: Pick<AuditPage, 'limit'>): number => 2 * limit + 1;

/** Newest change first, and of a change the last line first. */
export function toChanges(lines: readonly AuditLine[], limit: number): AuditedChange[] {
  const changes: AuditedChange[] = [];
  for (const { atMs, result, ...act } of lines) {
    const last = changes.at(-1);
    if (last?.id === act.id) {
      last.startedAtMs = atMs;
      continue;
    }
    if (changes.length === limit) break;
    changes.push({ ...act, startedAtMs: atMs, ended: result === STARTED ? null : { atMs, result } });
  }
  return changes;
}

const STARTED = 'started';

/** Where a line stands among the two of its change. */
export const partOf = ({ result }: Pick<AuditLine, 'result'>): 0 | 1 => (result === STARTED ? 0 : 1);

export const printSubject = (subject: AuditSubject): string => JSON.stringify(subject);

const subject = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));
export const parseSubject = (text: string): AuditSubject => subject.parse(JSON.parse(text));
