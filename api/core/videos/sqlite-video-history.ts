import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { PRUNE_ROWS } from '../limits.ts';
import type { VideoJob } from './video-job.ts';
import { parseVideoJob, printVideoJob, videoJobJson } from './video-job-json.ts';

/** A row a video, once it has ended: what is read of it is read as a whole. */
export const VIDEOS_SCHEMA = `
CREATE TABLE videos (
  agent_id INTEGER NOT NULL,
  video_id TEXT NOT NULL,
  idempotency_key TEXT,
  ended_at_ms INTEGER NOT NULL,
  job TEXT NOT NULL,
  PRIMARY KEY (agent_id, video_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX videos_by_key ON videos (agent_id, idempotency_key, ended_at_ms) WHERE idempotency_key IS NOT NULL;
CREATE INDEX videos_by_end ON videos (ended_at_ms);
`;

/** Ended videos on their way to the journal's thread; nearly always none. */
export const printVideoRows = (jobs: readonly VideoJob[]): string =>
  jobs.length === 0 ? '' : JSON.stringify(jobs.map(printVideoJob));

export interface SqliteVideoHistory {
  find(agentId: number, videoId: string): VideoJob | null;
  findByKey(agentId: number, idempotencyKey: string): VideoJob | null;
  /** Of one agent in the order of their ids, in portions; empty at the end. */
  list(agentId: number, afterVideoId: string): VideoJob[];
  /** What `printVideoRows` printed. */
  write(rows: string): void;
  /** Drops a bounded number of those that ended before; answers how many. */
  prune(endedBeforeMs: number): number;
}

/** In the thread that owns the file. */
export function createSqliteVideoHistory(db: DatabaseSync): SqliteVideoHistory {
  const byId = db.prepare('SELECT job FROM videos WHERE agent_id = ? AND video_id = ?');
  const byKey = db.prepare(`
    SELECT job FROM videos WHERE agent_id = ? AND idempotency_key = ? ORDER BY ended_at_ms DESC LIMIT 1`);
  const byAgent = db.prepare(`
    SELECT job FROM videos WHERE agent_id = ? AND video_id > ? ORDER BY video_id LIMIT ${LISTED_AT_ONCE}`);
  const put = db.prepare('INSERT OR REPLACE INTO videos VALUES (?, ?, ?, ?, ?)');
  const drop = db.prepare(`
    DELETE FROM videos WHERE (agent_id, video_id) IN
      (SELECT agent_id, video_id FROM videos WHERE ended_at_ms < ? ORDER BY ended_at_ms LIMIT ${PRUNE_ROWS})`);
  return {
    find: (agentId, videoId) => jobOf(byId.get(agentId, videoId)),
    findByKey: (agentId, idempotencyKey) => jobOf(byKey.get(agentId, idempotencyKey)),
    list: (agentId, afterVideoId) => byAgent.all(agentId, afterVideoId).flatMap((row) => jobOf(row) ?? []),
    write(rows) {
      if (rows === '') return;
      for (const job of videoJobJson.array().parse(JSON.parse(rows))) {
        put.run(job.agentId, job.videoId, job.idempotencyKey, job.end?.atMs ?? 0, JSON.stringify(job));
      }
    },
    prune: (endedBeforeMs) => Number(drop.run(endedBeforeMs).changes),
  };
}

const LISTED_AT_ONCE = 500;

const jobOf = (row: Record<string, SQLOutputValue> | undefined): VideoJob | null =>
  row === undefined ? null : parseVideoJob(videoJobJson.parse(JSON.parse(String(row.job))));
