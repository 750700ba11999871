import type { Client, types } from 'cassandra-driver';
import { z } from 'zod';
import { toCallRecord } from '#core/calls/cassandra-call-rows.ts';
import { toUsageSum } from '#core/calls/cassandra-usage-rows.ts';
import type { LedgerEntry } from '#core/calls/history-store.ts';
import { inOrder, type StoredHistory } from './memory-history-store.ts';

/** All that the tables hold; both tables of calls have to hold the same. */
export async function readCassandraHistory(client: Client): Promise<StoredHistory> {
  async function all<T>(table: string, toItem: (row: types.Row) => T): Promise<T[]> {
    const items: T[] = [];
    for await (const row of await client.execute(`SELECT * FROM ${table}`)) items.push(toItem(row));
    return items;
  }
  const usage = await all('usage_day', toUsageSum);
  const entries = await all('ledger_entries', toEntry);
  const { calls } = inOrder({ calls: await all('calls_by_agent', toCallRecord), entries, usage });
  const byKey = inOrder({ calls: await all('calls_by_key', toCallRecord), entries, usage });
  if (JSON.stringify(calls, withBigints) !== JSON.stringify(byKey.calls, withBigints)) {
    throw new Error('the calls of keys are not the calls of agents');
  }
  return { calls, entries: byKey.entries, usage: byKey.usage };
}

const withBigints = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

const count = z.bigint().transform(Number);
const entryRow = z.object({
  agent_id: count,
  epoch: count,
  seq: count,
  version: count,
  at_ms: count,
  type: z.string(),
  call_id: count,
  postings: z.string(),
});
const postings = z.array(z.tuple([z.string(), z.string(), z.string()]));

function toEntry(row: types.Row): LedgerEntry {
  const { agent_id, epoch, seq, version, at_ms, type, call_id, postings: text } = entryRow.parse(row);
  return {
    agentId: agent_id,
    epoch,
    seq,
    version,
    atMs: at_ms,
    type,
    callId: call_id === -1 ? null : call_id,
    postings: postings
      .parse(JSON.parse(text))
      .map(([from, to, nanoUsd]) => ({ from, to, nanoUsd: BigInt(nanoUsd) })),
  };
}
