import type { DatabaseSync } from 'node:sqlite';
import { dayNumber } from '../../calls/day-number.ts';
import { PRUNE_ROWS } from '../../limits.ts';
import type { SqliteVideoHistory } from '../../videos/sqlite-video-history.ts';
import type { PruneBounds } from './journal.ts';

/** Each call drops at most `PRUNE_ROWS` rows, so that a commit never waits long behind it. */
export function createPruner(db: DatabaseSync, videos: SqliteVideoHistory): (bounds: PruneBounds) => number {
  // The last row stays, whatever its age: it says where the journal goes on, and at which time.
  const oldest = db.prepare(`
    SELECT last_seq, at_ms FROM journal
    WHERE last_seq <= (SELECT checkpoint_seq FROM ledger) AND last_seq < (SELECT max(last_seq) FROM journal)
    ORDER BY last_seq LIMIT ${PRUNE_ROWS}`);
  const dropJournal = db.prepare('DELETE FROM journal WHERE last_seq <= ?');
  const dropCalls = db.prepare(`
    DELETE FROM calls WHERE (call_id, agent_id) IN
      (SELECT call_id, agent_id FROM calls WHERE call_id < ? ORDER BY call_id LIMIT ${PRUNE_ROWS})`);
  const dropKinds = db.prepare('DELETE FROM call_kinds WHERE newest_call_id < ?');
  const dropUsage = db.prepare('DELETE FROM usage_days WHERE agent_id = ? AND day < ?');

  function pruneJournal(beforeMs: number): number {
    let lastSeq = 0;
    for (const row of oldest.iterate()) {
      if (Number(row.at_ms) >= beforeMs) break;
      lastSeq = Number(row.last_seq);
    }
    return Number(dropJournal.run(lastSeq).changes);
  }

  function pruneCalls(beforeCallId: number): number {
    const dropped = Number(dropCalls.run(beforeCallId).changes);
    if (dropped === 0) dropKinds.run(beforeCallId);
    return dropped;
  }

  return (bounds) => {
    switch (bounds.kind) {
      case 'journal':
        return pruneJournal(bounds.beforeMs);
      case 'calls':
        return pruneCalls(bounds.beforeCallId);
      case 'videos':
        return videos.prune(bounds.endedBeforeMs);
      case 'usage': {
        const day = dayNumber(bounds.beforeDay);
        let dropped = 0;
        for (const agentId of bounds.agentIds) dropped += Number(dropUsage.run(agentId, day).changes);
        return dropped;
      }
      default:
        return bounds satisfies never;
    }
  };
}
