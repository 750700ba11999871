import type { AuditedChange, AuditLine, AuditPage } from './audit-log.ts';

/** What can be asked of the audit log's thread, and what each is answered with. */
export interface AuditOperations {
  write: { args: [line: AuditLine]; answer: undefined };
  list: { args: [page: AuditPage]; answer: AuditedChange[] };
  close: { args: []; answer: undefined };
}
export type AuditOperation = keyof AuditOperations;

export type AuditRequest = {
  [O in AuditOperation]: { place: number; operation: O; args: AuditOperations[O]['args'] };
}[AuditOperation];

export type AuditAnswer =
  | { place: number; ok: true; answer: unknown }
  | { place: number; ok: false; message: string };
