import type { Client, types } from 'cassandra-driver';
import { expect } from 'vitest';
import { z } from 'zod';
import { toCallRecord } from '#core/calls/cassandra-call-rows.ts';
import { toUsageSum } from '#core/calls/cassandra-usage-rows.ts';
import type { LedgerEntry } from '#core/calls/history-store.ts';
import { inOrder, type StoredHistory } from './memory-history-store.ts';

/** All that the tables hold, with the calls of one of the two that have them. */
export async function readCassandraHistory(
  client: Client,
  callsTable: 'calls_by_agent' | 'calls_by_key' = 'calls_by_agent',
): Promise<StoredHistory> {
  async function all<T>(table: string, toItem: (row: types.Row) => T): Promise<T[]> {
    const items: T[] = [];
    for await (const row of await client.execute(`SELECT * FROM ${table}`)) items.push(toItem(row));
    return items;
  }
  return inOrder({
    calls: await all(callsTable, toCallRecord),
    entries: await all('ledger_entries', toEntry),
    usage: await all('usage_days', toUsageSum),
  });
}

/** What both ways to read the calls show. */
export async function expectHistory(client: Client, expected: StoredHistory): Promise<void> {
  expect(await readCassandraHistory(client)).toEqual(expected);
  expect((await readCassandraHistory(client, 'calls_by_key')).calls).toEqual(expected.calls);
}

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
