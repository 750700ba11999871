import { JournalDamagedError, JournalError, JournalTooNewError } from './journal-errors.ts';
import type { SqliteJournal } from './sqlite-journal.ts';

export interface JournalRequest {
  id: number;
  operation: keyof SqliteJournal;
  args: unknown[];
}

/** `opened` or `failed` once for the start, with id 0; then one for each request. */
export type JournalAnswer =
  | { id: number; ok: true; answer: unknown }
  | { id: number; ok: false; error: WireError };

/** Errors lose their class on the way between threads. */
export type WireError =
  | { kind: 'damaged'; file: string; seq: number | null; problem: string }
  | { kind: 'too_new'; file: string; found: number; known: number }
  | { kind: 'failed'; message: string };

export function toWireError(error: unknown): WireError {
  if (error instanceof JournalDamagedError) {
    return { kind: 'damaged', file: error.file, seq: error.seq, problem: error.problem };
  }
  if (error instanceof JournalTooNewError) {
    return { kind: 'too_new', file: error.file, found: error.found, known: error.known };
  }
  return { kind: 'failed', message: error instanceof Error ? error.message : String(error) };
}

export function fromWireError(error: WireError): JournalError {
  switch (error.kind) {
    case 'damaged':
      return new JournalDamagedError(error.file, error.seq, error.problem);
    case 'too_new':
      return new JournalTooNewError(error.file, error.found, error.known);
    case 'failed':
      return new JournalError(error.message);
    default:
      return error satisfies never;
  }
}
