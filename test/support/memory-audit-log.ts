import type { AuditLine, AuditLog } from '#core/audit-log/audit-log.ts';
import { partOf, toChanges } from '#core/audit-log/to-changes.ts';
import { idTimeMs } from '#core/ids.ts';

export interface MemoryAuditLog extends AuditLog {
  /** As they were written. */
  lines: AuditLine[];
  /** From now on nothing can be written or read. */
  lose(): void;
}

export function createMemoryAuditLog(): MemoryAuditLog {
  const lines: AuditLine[] = [];
  let isLost = false;
  return {
    lines,
    lose() {
      isLost = true;
    },
    async write(line) {
      if (isLost) throw new Error('the disk is full');
      if (lines.some(({ id, result }) => id === line.id && partOf({ result }) === partOf(line))) {
        throw new Error(`another change has the id ${line.id}`);
      }
      lines.push(structuredClone(line));
    },
    async list({ limit, beforeId = Number.MAX_SAFE_INTEGER, sinceMs = 0, action }) {
      if (isLost) return 'unavailable';
      const found = lines
        .filter((line) => line.id < beforeId && idTimeMs(line.id) >= sinceMs)
        .filter((line) => action === undefined || line.action === action)
        .sort((a, b) => b.id - a.id || partOf(b) - partOf(a));
      return toChanges(found, limit);
    },
    async close() {},
  };
}
