import type { Client, types } from 'cassandra-driver';
import { expect } from 'vitest';
import { z } from 'zod';
import { toCallRecord } from '#core/calls/cassandra-call-rows.ts';
import { parseCounted } from '#core/calls/cassandra-usage-rows.ts';
import type { LedgerEntry, UsageSum } from '#core/calls/history-store.ts';
import { parseVideoJob, videoJobJson } from '#core/videos/video-job-json.ts';
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
    usage: await readUsageSums(client),
    videos: await all('videos', (row) =>
      parseVideoJob(videoJobJson.parse(JSON.parse(String(row.get('job'))))),
    ),
  });
}

export async function readUsageSums(client: Client): Promise<UsageSum[]> {
  const sums: UsageSum[] = [];
  for await (const row of await client.execute('SELECT * FROM usage_days')) {
    const { agent_id: agentId, day, models } = usageRow.parse(row);
    for (const [model, text] of Object.entries(models)) {
      sums.push({ agentId, day, model, ...parseCounted(text) });
    }
  }
  return sums;
}

/** What both ways to read the calls show. */
export async function expectHistory(client: Client, expected: StoredHistory): Promise<void> {
  expect(await readCassandraHistory(client)).toEqual(expected);
  expect((await readCassandraHistory(client, 'calls_by_key')).calls).toEqual(expected.calls);
}

const count = z.bigint().transform(Number);
const usageRow = z.object({ agent_id: count, day: z.int(), models: z.record(z.string(), z.string()) });
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
