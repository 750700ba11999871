import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { AgentRow, EndedRow, JournalHead, JournalRow } from './journal.ts';
import { eventsChecksum, headChecksum } from './journal-checksum.ts';
import { JournalDamagedError } from './journal-errors.ts';

/** A chunk is folded without a pause by a thread that also serves calls: about 2 ms. */
const CHUNK_CHARS = 128 * 1024;
/** Of events, which are packed to a quarter. */
const PACKED_CHUNK_CHARS = CHUNK_CHARS / 4;

type Row = Record<string, SQLOutputValue>;

/** Reads what the ledger is rebuilt from, and trusts none of it. */
export function createJournalReader(db: DatabaseSync, file: string) {
  const ledger = db.prepare('SELECT * FROM ledger WHERE id = 1');
  const last = db.prepare('SELECT last_seq, at_ms FROM journal ORDER BY last_seq DESC LIMIT 1');
  const agents = db.prepare('SELECT * FROM agents WHERE agent_id > ? ORDER BY agent_id');
  const ended = db.prepare(`
    SELECT last_seq, first_seq, at_ms, head_crc, ended FROM journal
    WHERE last_seq > ? AND last_seq <= ? ORDER BY last_seq`);
  const tail = db.prepare('SELECT * FROM journal WHERE last_seq > ? ORDER BY last_seq');
  const timeAfter = db.prepare('SELECT at_ms FROM journal WHERE last_seq > ? ORDER BY last_seq LIMIT 1');

  /** The ledger's time never steps back, so the first row of a time is found by halving. */
  function seqBefore(sinceMs: number, lastSeq: number): number {
    let low = 0;
    let high = lastSeq;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const atMs = timeAfter.get(middle)?.at_ms;
      if (atMs !== undefined && Number(atMs) <= sinceMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function head(): JournalHead {
    const row = ledger.get();
    if (row === undefined) throw new JournalDamagedError(file, null, 'the row of table ledger is missing');
    const newest = last.get();
    const checkpointSeq = Number(row.checkpoint_seq);
    const lastSeq = newest === undefined ? 0 : Number(newest.last_seq);
    if (lastSeq < checkpointSeq || lastSeq < Number(row.projected_seq)) {
      throw new JournalDamagedError(file, lastSeq, `the journal ends before its checkpoint ${checkpointSeq}`);
    }
    return {
      lastSeq,
      lastAtMs: Number(newest?.at_ms ?? 0),
      checkpointSeq,
      projectedSeq: Number(row.projected_seq),
    };
  }

  return {
    head,
    agents(afterAgentId: number): AgentRow[] {
      const rows = chunk(agents.iterate(afterAgentId), CHUNK_CHARS, (row) => String(row.snapshot).length);
      return rows.map((row) => ({ agentId: Number(row.agent_id), text: String(row.snapshot) }));
    },
    ended(afterSeq: number, sinceMs: number): EndedRow[] {
      const { checkpointSeq } = head();
      const from = Math.max(afterSeq, seqBefore(sinceMs, checkpointSeq));
      const rows = chunk(ended.iterate(from, checkpointSeq), CHUNK_CHARS, (row) => String(row.ended).length);
      for (const row of rows) checkHead(file, row);
      return rows.map((row) => ({ lastSeq: Number(row.last_seq), ended: String(row.ended) }));
    },
    tail(afterSeq: number): JournalRow[] {
      const rows = chunk(tail.iterate(afterSeq), PACKED_CHUNK_CHARS, (row) => String(row.events).length);
      let expected = afterSeq;
      return rows.map((row) => {
        const read = checkTail(file, row, expected);
        expected = read.lastSeq;
        return read;
      });
    },
  };
}

/** At least one row, when there is one: a row may be longer than a chunk. */
function chunk(rows: Iterable<Row>, charsMax: number, charsOf: (row: Row) => number): Row[] {
  const taken: Row[] = [];
  let chars = 0;
  for (const row of rows) {
    taken.push(row);
    chars += charsOf(row) + 64;
    if (chars >= charsMax) break;
  }
  return taken;
}

function checkHead(file: string, row: Row): { firstSeq: number; lastSeq: number; ended: string } {
  const lastSeq = Number(row.last_seq);
  const firstSeq = Number(row.first_seq);
  const ended = String(row.ended);
  if (headChecksum({ firstSeq, lastSeq, atMs: Number(row.at_ms), ended }) !== row.head_crc) {
    throw new JournalDamagedError(file, lastSeq, 'the checksum of the row is wrong');
  }
  return { firstSeq, lastSeq, ended };
}

/** The row that holds the checkpoint may have begun before it. */
function checkTail(file: string, row: Row, afterSeq: number): JournalRow {
  const { firstSeq, lastSeq, ended } = checkHead(file, row);
  const events = String(row.events);
  if (firstSeq > afterSeq + 1) {
    throw new JournalDamagedError(
      file,
      afterSeq + 1,
      `events ${afterSeq + 1} to ${firstSeq - 1} are missing`,
    );
  }
  if (eventsChecksum(events) !== row.events_crc) {
    throw new JournalDamagedError(file, lastSeq, 'the checksum of the events is wrong');
  }
  return { firstSeq, lastSeq, ended, events };
}
