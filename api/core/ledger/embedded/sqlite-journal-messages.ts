import type { CallPage, UsageRange, UsageRow } from '../../calls/call-history.ts';
import type { CallRecord } from '../../calls/call-record.ts';
import type { VideoJob } from '../../videos/video-job.ts';
import type { AgentRow, EndedRow, JournalHead, JournalRow, PruneBounds } from './journal.ts';
import { JournalDamagedError, JournalError, JournalTooNewError } from './journal-errors.ts';
import type { SqliteBatch } from './sqlite-journal.ts';

/** What can be asked of the journal's thread, and what each is answered with. */
export interface JournalOperations {
  head: { args: []; answer: JournalHead };
  readAgents: { args: [afterAgentId: number]; answer: AgentRow[] };
  readEnded: { args: [afterSeq: number, sinceMs: number]; answer: EndedRow[] };
  readTail: { args: [afterSeq: number]; answer: JournalRow[] };
  commit: { args: [batch: SqliteBatch]; answer: undefined };
  prune: { args: [bounds: PruneBounds]; answer: number };
  listCalls: { args: [page: CallPage]; answer: CallRecord[] };
  findCall: { args: [callId: number]; answer: CallRecord | null };
  usage: { args: [range: UsageRange]; answer: UsageRow[] };
  findVideo: { args: [agentId: number, videoId: string]; answer: VideoJob | null };
  findVideoByKey: { args: [agentId: number, idempotencyKey: string]; answer: VideoJob | null };
  listVideos: { args: [agentId: number, afterVideoId: string]; answer: VideoJob[] };
  close: { args: []; answer: undefined };
}
export type JournalOperation = keyof JournalOperations;

export type JournalRequest = {
  [O in JournalOperation]: { id: number; operation: O; args: JournalOperations[O]['args'] };
}[JournalOperation];

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
