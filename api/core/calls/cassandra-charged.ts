import type { Client } from 'cassandra-driver';
import { z } from 'zod';
import { startOfMonthMs, startOfNextMonthMs } from '../clock.ts';
import type { NanoUsd } from '../money.ts';
import { monthOf } from './cassandra-usage-rows.ts';
import { dayOf } from './day-number.ts';

const entry = z.object({ version: z.bigint(), postings: z.string() });
const postings = z.array(z.tuple([z.string(), z.string(), z.string()]));

/** What an agent's entries add up to, and the version of the newest; `null`: there is none. */
export async function readCharged(
  client: Client,
  { agentId, fromMs, toMs }: { agentId: number; fromMs: number; toMs: number },
): Promise<{ chargedNanoUsd: NanoUsd; version: number } | null> {
  let chargedNanoUsd = 0n;
  let version = 0;
  for (let atMs = startOfMonthMs(fromMs); atMs <= toMs; atMs = startOfNextMonthMs(atMs)) {
    const month = monthOf(dayOf(atMs));
    for await (const row of await client.execute(ENTRIES, [BigInt(agentId), month])) {
      const read = entry.parse(row);
      version = Math.max(version, Number(read.version));
      for (const [, to, nanoUsd] of postings.parse(JSON.parse(read.postings))) {
        if (to === 'charged') chargedNanoUsd += BigInt(nanoUsd);
      }
    }
  }
  return version === 0 ? null : { chargedNanoUsd, version };
}

const ENTRIES = 'SELECT version, postings FROM ledger_entries WHERE agent_id = ? AND month = ?';
