import { join } from 'node:path';
import type { Client } from 'cassandra-driver';
import { tryAgain } from '#core/backup/try-again.ts';
import type { CallRecord } from '#core/calls/call-record.ts';
import { createCassandraHistoryStore } from '#core/calls/cassandra-history-store.ts';
import { systemClock } from '#core/clock.ts';
import type { JournalBatch } from '#core/ledger/embedded/journal.ts';
import { openJournalThread } from '#core/ledger/embedded/sqlite-journal-thread.ts';
import { historyCalls, UsageSums } from './history-calls.ts';

const CALLS_AT_ONCE = 5_000;

/** Rows as the gateway writes them, without the ledger that would decide each call. */
export async function fillSqlite(dataDir: string, count: number, nowMs: number): Promise<void> {
  const journal = await openJournalThread(join(dataDir, 'ledger.sqlite'), { onBroken: () => {} });
  const only: Omit<JournalBatch, 'calls'> = {
    videos: [],
    ...{ firstSeq: 1, lastSeq: 0, atMs: 0, events: '', ended: '', agents: [], checkpointSeq: null },
  };
  for (const calls of chunks(historyCalls(count, nowMs))) await journal.commit({ ...only, calls });
  await journal.close();
}

export async function fillCassandra(client: Client, count: number, nowMs: number): Promise<void> {
  const store = createCassandraHistoryStore(client);
  const sums = new UsageSums();
  for (const calls of chunks(historyCalls(count, nowMs))) {
    for (const call of calls) sums.add(call);
    await tryAgain(systemClock, () => store.write({ calls, entries: [], usage: [], videos: [] }));
  }
  await tryAgain(systemClock, () => store.write({ calls: [], entries: [], usage: sums.all(), videos: [] }));
}

function* chunks(calls: Iterable<CallRecord>): Generator<CallRecord[]> {
  let chunk: CallRecord[] = [];
  for (const call of calls) {
    chunk.push(call);
    if (chunk.length < CALLS_AT_ONCE) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
