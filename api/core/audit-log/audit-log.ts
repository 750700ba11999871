/** Who changed what, and tried to: kept where the history of calls is, for `AUDIT_KEPT_MS`. */
export interface AuditLog {
  /** Resolves once the line is durable; where it rejects, it may be all the same. A line is never written over. */
  write(line: AuditLine): Promise<void>;
  /** Newest first. `unavailable`: the store cannot answer at this moment. */
  list(page: AuditPage): Promise<AuditedChange[] | 'unavailable'>;
  close(): Promise<void>;
}

/** A change has two: `started`, durable before anything is done, and what came of it. */
export interface AuditLine extends AuditedAct {
  atMs: number;
  /** An error code where the change was refused. */
  result: 'started' | 'ok' | (string & {});
}

export interface AuditedAct {
  /** Of the request, made when it came: the same in both lines, and in the answer's headers. */
  id: number;
  /** As the client names its user. That it holds the admin token, or the stores, is all that is proven. */
  operator: string;
  address: string;
  /** The procedure, such as `agents.suspend`. */
  action: string;
  subject: AuditSubject;
}

/** Ids, names and amounts, never a secret. */
export type AuditSubject = Record<string, string | number | boolean>;

/** Both lines of a change. */
export interface AuditedChange extends AuditedAct {
  startedAtMs: number;
  /** `null`: it runs, or was cut off, and the ledger knows what came of it. */
  ended: { atMs: number; result: string } | null;
}

export interface AuditPage {
  limit: number;
  /** The last change of the page before. */
  beforeId?: number | undefined;
  sinceMs?: number | undefined;
  action?: string | undefined;
}
