import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type Clock, SECOND_MS, type Timer } from '../../clock.ts';
import { foldEvent } from '../apply.ts';
import { emptyLedger } from '../empty-ledger.ts';
import type { LedgerState } from '../state.ts';
import { followStored, LOG_START, type LogPosition } from './effective-log.ts';
import { inAppends } from './in-appends.ts';
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
  clock: Clock;
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
  const { scripts, keys, recoverer, clock } = options;
  const lease = async (leaseMs: number): Promise<boolean> =>
    (await scripts.run('lease', [keys.meta], [recoverer, leaseMs]))[0] === 'OK';
  if (!(await lease(LEASE_MS))) return null;
  // A lease that could not be renewed is only an economy lost.
  const renew = (): Timer =>
    clock.setTimer(LEASE_RENEW_MS, () => {
      timer = renew();
      void lease(LEASE_MS).catch(() => false);
    });
  let timer = renew();
  try {
    return await rebuild(options);
  } finally {
    timer.cancel();
    await lease(0).catch(() => false);
  }
}

async function rebuild(options: ShardRecoveryOptions): Promise<Recovered | null> {
  const { shard, keys, scripts, log } = options;
  const nonce = randomBytes(8).toString('hex');
  // Drained first: what lands before the mark counts, so that a settle of the last second is not lost.
  const leftover = await readLeftover(scripts, keys);
  for (const some of inAppends(leftover)) await log.append(shard, some);
  const folded: FoldedShard = { state: emptyLedger(), position: { ...LOG_START }, offset: 0n, lastAtMs: 0 };
  await foldOn(log, shard, folded);
  await log.append(shard, [markRecordText(folded.position.epoch + 1, nonce)]);
  await foldOn(log, shard, folded);
  if (folded.position.nonce !== nonce) return null;

  const [claimed, known] = await scripts.run('claim', keys.claimed, [nonce]);
  if (claimed !== 'OK' || !Array.isArray(known)) return null;
  for (const agentId of known.map(Number)) {
    const all = [keys.meta, keys.agents, ...agentKeys(keys, agentId)];
    if ((await scripts.run('clear_agent', all, [nonce, agentId]))[0] !== 'OK') return null;
  }
  for (const agent of folded.state.agents.values()) {
    for (const { key, command, values } of agentLoads(keys, agent)) {
      if ((await scripts.run('load', [keys.meta, key], [nonce, command, ...values]))[0] !== 'OK') return null;
    }
  }
  const { epoch, seq } = folded.position;
  const args = [nonce, epoch, seq, folded.lastAtMs, String(folded.offset)];
  const [opened] = await scripts.run('open', [keys.meta, keys.outbox], args);
  return opened === 'OK' ? { position: folded.position, offset: folded.offset } : null;
}

/** Short enough to wait for where its holder has died. */
const LEASE_MS = 5 * SECOND_MS;
const LEASE_RENEW_MS = SECOND_MS;

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

/** From where the fold stands to the log's present end. */
async function foldOn(log: LedgerLog, shard: number, folded: FoldedShard): Promise<void> {
  let failure: unknown = null;
  await log.readToEnd(new Map([[shard, folded.offset]]), (_, record) => {
    if (failure !== null) return;
    try {
      followStored(folded.position, record, (event) => {
        foldEvent(folded.state, event);
        folded.lastAtMs = Math.max(folded.lastAtMs, event.atMs);
      });
      folded.offset = record.offset + 1n;
    } catch (error) {
      failure = error;
    }
  });
  if (failure !== null) throw failure;
}
