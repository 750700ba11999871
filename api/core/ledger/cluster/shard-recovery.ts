import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { SECOND_MS } from '../../clock.ts';
import { foldEvent } from '../apply.ts';
import { emptyLedger } from '../empty-ledger.ts';
import type { LedgerState } from '../state.ts';
import { followStored, LOG_START, type LogPosition } from './effective-log.ts';
import type { LedgerLog } from './ledger-log.ts';
import { eventRecordText, markRecordText } from './log-record.ts';
import { agentKeys, agentLoads } from './redis-agent-loads.ts';
import type { ShardKeys } from './redis-keys.ts';
import type { RedisScripts } from './redis-scripts.ts';

export interface ShardRecoveryOptions {
  shard: number;
  keys: ShardKeys;
  scripts: RedisScripts;
  log: LedgerLog;
  /** Of the process: while it recovers the shard, others wait. */
  recoverer: string;
}

/** Where a recovered shard stands: in its epoch, and in the log. */
export interface Recovered {
  position: LogPosition;
  /** Behind the last record that was folded. */
  offset: bigint;
}

/**
 * Rebuilds a fenced shard from the log alone, and opens it. `null`: somebody else was faster, or is at it. Any number
 * may try at once: the log decides whose mark counts, and the claim whose load does.
 */
export async function recoverShard(options: ShardRecoveryOptions): Promise<Recovered | null> {
  const { shard, keys, scripts, log } = options;
  const nonce = randomBytes(8).toString('hex');
  if (!(await takeLease(options))) return null;
  // Drained first: what lands before the mark counts, so that a settle of the last second is not lost.
  const leftover = await readLeftover(scripts, keys);
  if (leftover.length > 0) await log.append(shard, leftover);
  const before = await foldShard(log, shard);
  await log.append(shard, [markRecordText(before.position.epoch + 1, nonce)]);
  const folded = await foldShard(log, shard);
  if (folded.position.nonce !== nonce) return null;

  if (!(await takeLease(options))) return null;
  const [claimed, known] = await scripts.run(
    'claim',
    [keys.meta, keys.outbox, keys.agents, keys.keyHashes, keys.open],
    [nonce],
  );
  if (claimed !== 'OK' || !Array.isArray(known)) return null;
  for (const agentId of known.map(Number)) {
    const all = [keys.meta, keys.agents, ...agentKeys(keys, agentId)];
    if ((await scripts.run('clear_agent', all, [nonce, agentId]))[0] !== 'OK') return null;
  }
  for (const agent of folded.state.agents.values()) {
    if (!(await takeLease(options))) return null;
    for (const { key, command, values } of agentLoads(keys, agent)) {
      if ((await scripts.run('load', [keys.meta, key], [nonce, command, ...values]))[0] !== 'OK') return null;
    }
  }
  const { epoch, seq } = folded.position;
  const args = [nonce, epoch, seq, folded.lastAtMs, String(folded.offset)];
  const [opened] = await scripts.run('open', [keys.meta, keys.outbox], args);
  return opened === 'OK' ? { position: folded.position, offset: folded.offset } : null;
}

/** Long enough for one agent's load or one fold of the log, short enough to wait for where its holder has died. */
const LEASE_MS = 5 * SECOND_MS;

async function takeLease({ scripts, keys, recoverer }: ShardRecoveryOptions): Promise<boolean> {
  return (await scripts.run('lease', [keys.meta], [recoverer, LEASE_MS]))[0] === 'OK';
}

/** In order, as records: of whichever epoch the node was in. */
async function readLeftover(scripts: RedisScripts, keys: ShardKeys): Promise<string[]> {
  const [, entries] = await scripts.run('leftover', [keys.meta, keys.outbox], []);
  return z
    .array(z.tuple([z.string(), z.tuple([z.string(), z.string(), z.string(), z.string()])]))
    .parse(entries)
    .map(([place, [, text]]) => {
      const [epoch, seq] = place.split('-').map(Number);
      return eventRecordText(epoch ?? 0, seq ?? 0, text);
    });
}

interface FoldedShard extends Recovered {
  state: LedgerState;
  lastAtMs: number;
}

async function foldShard(log: LedgerLog, shard: number): Promise<FoldedShard> {
  const state = emptyLedger();
  const position = { ...LOG_START };
  let offset = 0n;
  let lastAtMs = 0;
  let failure: unknown = null;
  await log.readToEnd(new Map([[shard, 0n]]), (_, record) => {
    if (failure !== null) return;
    try {
      followStored(position, record, (event) => {
        foldEvent(state, event);
        lastAtMs = Math.max(lastAtMs, event.atMs);
      });
      offset = record.offset + 1n;
    } catch (error) {
      failure = error;
    }
  });
  if (failure !== null) throw failure;
  return { state, position, offset, lastAtMs };
}
