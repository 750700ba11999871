import type { DatabaseSync } from 'node:sqlite';
import { createSqliteCallHistory, type SqliteCallHistory } from '../../calls/sqlite-call-history.ts';
import { type CallRow, createCallWriter, parseCallRows } from '../../calls/sqlite-call-rows.ts';
import {
  closeOnFailure,
  createTransact,
  openSqlite,
  sqliteFailure,
  type Transact,
} from '../../drivers/sqlite.ts';
import { createSqliteVideoHistory, type SqliteVideoHistory } from '../../videos/sqlite-video-history.ts';
import type { AgentRow, EndedRow, JournalBatch, JournalHead, JournalRow, PruneBounds } from './journal.ts';
import { eventsChecksum, headChecksum } from './journal-checksum.ts';
import { JournalDamagedError, JournalError } from './journal-errors.ts';
import { createJournalReader } from './sqlite-journal-read.ts';
import { createPruner } from './sqlite-prune.ts';
import { prepareSchema } from './sqlite-schema.ts';
import { settleWal } from './sqlite-wal.ts';

/** Settled calls whose rows in the history are not written yet. */
export const PROJECTION_ROWS = 1_024;

/** A batch whose calls and videos are already rows, see `printCallRows` and `printVideoRows`, as it crosses to the journal's thread. */
export type SqliteBatch = Omit<JournalBatch, 'calls' | 'videos'> & { calls: string; videos: string };

/** The journal's file, in the thread that owns it. Everything here blocks, and throws `JournalError`. */
export interface SqliteJournal {
  head(): JournalHead;
  readAgents(afterAgentId: number): AgentRow[];
  readEnded(afterSeq: number, sinceMs: number): EndedRow[];
  readTail(afterSeq: number): JournalRow[];
  commit(batch: SqliteBatch): void;
  prune(bounds: PruneBounds): number;
  listCalls: SqliteCallHistory['list'];
  findCall: SqliteCallHistory['find'];
  usage: SqliteCallHistory['usage'];
  findVideo: SqliteVideoHistory['find'];
  findVideoByKey: SqliteVideoHistory['findByKey'];
  listVideos: SqliteVideoHistory['list'];
  close(): void;
}

export function openSqliteJournal(path: string): SqliteJournal {
  return guarded(path, () => {
    const db = openSqlite(path);
    return closeOnFailure(db, () => {
      settleWal(db, path);
      const transact = createTransact(db);
      prepareSchema(db, transact, path);
      // Proves that the disk takes a commit, before the ledger decides anything.
      transact(() => db.exec('UPDATE ledger SET opened_count = opened_count + 1'));
      return journalOf(db, transact, path);
    });
  });
}

function journalOf(db: DatabaseSync, transact: Transact, path: string): SqliteJournal {
  const reader = createJournalReader(db, path);
  const videos = createSqliteVideoHistory(db);
  const prune = createPruner(db, videos);
  const history = createSqliteCallHistory(db);
  const projection = createProjection(db);
  const writeBatch = createBatchWriter(db, projection, videos);
  let broken: unknown = null;

  /** After a write that failed, nothing here says what is on the disk: only opening the file again does. */
  function write<T>(change: () => T): T {
    if (broken !== null) throw broken;
    try {
      return guarded(path, () => transact(change));
    } catch (error) {
      broken = error;
      throw error;
    }
  }

  function projected(): SqliteCallHistory {
    if (projection.waiting()) write(projection.write);
    return history;
  }

  return {
    head: () => guarded(path, reader.head),
    readAgents: (afterAgentId) => guarded(path, () => reader.agents(afterAgentId)),
    readEnded: (afterSeq, sinceMs) => guarded(path, () => reader.ended(afterSeq, sinceMs)),
    readTail: (afterSeq) => guarded(path, () => reader.tail(afterSeq)),
    commit: (batch) => write(() => writeBatch(batch)),
    prune: (bounds) => write(() => prune(bounds)),
    listCalls: (page) => guarded(path, () => projected().list(page)),
    findCall: (callId) => guarded(path, () => projected().find(callId)),
    usage: (range) => guarded(path, () => projected().usage(range)),
    findVideo: (agentId, videoId) => guarded(path, () => videos.find(agentId, videoId)),
    findVideoByKey: (agentId, key) => guarded(path, () => videos.findByKey(agentId, key)),
    listVideos: (agentId, afterVideoId) => guarded(path, () => videos.list(agentId, afterVideoId)),
    close() {
      try {
        projected();
      } finally {
        db.close();
      }
    },
  };
}

/**
 * The history's rows are not written with each batch: every agent has index pages of its own, and a commit that
 * touches 64 of them costs twice the CPU and four times the time. They wait here, at most `PROJECTION_ROWS` and one
 * batch, until there are enough, or somebody reads. After a crash the ones that waited are projected again from
 * the events behind `projected_seq`.
 */
function createProjection(db: DatabaseSync) {
  const writeCalls = createCallWriter(db);
  const mark = db.prepare('UPDATE ledger SET projected_seq = ?');
  let rows: CallRow[] = [];
  let seq = 0;
  return {
    add(calls: string, lastSeq: number) {
      for (const row of parseCallRows(calls)) rows.push(row);
      seq = lastSeq;
    },
    waiting: () => rows.length > 0,
    full: () => rows.length >= PROJECTION_ROWS,
    write() {
      writeCalls(rows);
      mark.run(seq);
      rows = [];
    },
  };
}

function createBatchWriter(
  db: DatabaseSync,
  projection: ReturnType<typeof createProjection>,
  videos: SqliteVideoHistory,
) {
  const insert = db.prepare('INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?, ?)');
  const putAgent = db.prepare('INSERT OR REPLACE INTO agents VALUES (?, ?)');
  const checkpoint = db.prepare('UPDATE ledger SET checkpoint_seq = ?');
  return (batch: SqliteBatch) => {
    const { firstSeq, lastSeq, atMs, ended, events, agents, checkpointSeq } = batch;
    if (events !== '') {
      insert.run(lastSeq, firstSeq, atMs, headChecksum(batch), eventsChecksum(events), ended, events);
    }
    // With the events that ended them: there are few, and none is ever to be projected again.
    videos.write(batch.videos);
    projection.add(batch.calls, lastSeq);
    // A fold skips the events that an agent's snapshot contains, so their calls must be in the history before it.
    if (projection.full() || agents.length > 0) projection.write();
    for (const { agentId, text } of agents) putAgent.run(agentId, text);
    if (checkpointSeq !== null) checkpoint.run(checkpointSeq);
  };
}

/** Turns SQLite's errors into the journal's; a damaged image names the file and what to do. */
function guarded<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof JournalError) throw cause;
    const message = cause instanceof Error ? cause.message : String(cause);
    if (sqliteFailure(cause) === 'damaged') throw new JournalDamagedError(path, null, message, { cause });
    throw new JournalError(`${path}: ${message}`, { cause });
  }
}
