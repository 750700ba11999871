import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type Clock, every, SECOND_MS } from '../../clock.ts';
import { PUBLISHER_LEASE_MS } from '../../limits.ts';
import type { AgentStates } from './agent-states.ts';
import type { LogPosition } from './effective-log.ts';
import { inAppends } from './in-appends.ts';
import type { LedgerLog } from './ledger-log.ts';
import { eventRecordText, markRecordText } from './log-record.ts';
import { parsePlace } from './place.ts';
import { agentKeys, agentLoads } from './redis-agent-loads.ts';
import type { ShardKeys } from './redis-keys.ts';
import type { RedisScripts } from './redis-scripts.ts';
import { checkVersions, type FoldedShard, foldToEnd, readCopy, ShardGapError } from './shard-fold.ts';

export interface ShardRecoveryOptions {
  shard: number;
  keys: ShardKeys;
  scripts: RedisScripts;
  log: LedgerLog;
  states: AgentStates;
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
 * Rebuilds a fenced shard from the copies of its agents and what the log has behind them, and opens it. `null`: somebody
 * else was faster, or is at it. Any number may try at once: the log decides whose mark counts, and the claim whose load
 * does. Throws `ShardGapError` where something is missing, and then has neither marked the log nor touched the node.
 */
export async function recoverShard(options: ShardRecoveryOptions): Promise<Recovered | null> {
  const { scripts, keys, recoverer, clock } = options;
  const lease = async (leaseMs: number): Promise<boolean> =>
    (await scripts.run('lease', [keys.meta], [recoverer, leaseMs]))[0] === 'OK';
  if (!(await lease(RECOVERY_LEASE_MS))) return null;
  // A lease that could not be renewed is only an economy lost.
  const renew = () => void lease(RECOVERY_LEASE_MS).catch(() => false);
  const timer = every(clock, RECOVERY_LEASE_RENEW_MS, renew);
  try {
    return await rebuild(options);
  } finally {
    timer.cancel();
    // Who has rebuilt a shard goes on to publish it.
    await lease(PUBLISHER_LEASE_MS).catch(() => false);
  }
}

async function rebuild(options: ShardRecoveryOptions): Promise<Recovered | null> {
  const { shard, keys, scripts, log, states } = options;
  const nonce = randomBytes(8).toString('hex');
  const folded = await readCopy(states, shard);
  await foldOn(log, folded);
  // Drained before the mark: what lands there counts, so that a settle of the last second is not lost.
  for await (const texts of readLeftover(scripts, keys)) {
    for (const some of inAppends(texts)) await log.append(shard, some);
  }
  await log.append(shard, [markRecordText(folded.position.epoch + 1, nonce)]);
  await foldOn(log, folded);
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
const RECOVERY_LEASE_MS = 5 * SECOND_MS;
const RECOVERY_LEASE_RENEW_MS = SECOND_MS;

/** Few enough that all shards' are answered in time, when Redis has been failed over before a whole outbox was published. */
const LEFTOVER_AT_ONCE = 200;

/** In order, as records: of whichever epoch the node was in. */
async function* readLeftover(scripts: RedisScripts, keys: ShardKeys): AsyncGenerator<string[]> {
  for (let begin = '-'; ; ) {
    const [, reply] = await scripts.run('leftover', [keys.meta, keys.outbox], [begin, LEFTOVER_AT_ONCE]);
    const entries = leftover.parse(reply);
    const last = entries.at(-1);
    if (last === undefined) return;
    yield entries.map(([place, [, text]]) => {
      const { epoch, seq } = parsePlace(place);
      return eventRecordText(epoch, seq, text);
    });
    begin = `(${last[0]}`;
  }
}

const leftover = z.array(z.tuple([z.string(), z.tuple([z.string(), z.string(), z.string(), z.string()])]));

/** Checked before the mark, too: a shard that is refused again and again would else get an epoch each time. */
async function foldOn(log: LedgerLog, folded: FoldedShard): Promise<void> {
  const { shard, offset } = folded;
  const end = (await log.ends()).get(shard) ?? 0n;
  if (end < offset) {
    throw new ShardGapError(shard, `its copy was made at record ${offset}, and the log ends at ${end}`);
  }
  await foldToEnd(log, folded);
  if (folded.offset < end) {
    throw new ShardGapError(shard, `the log ends at ${end}, and no longer has record ${folded.offset}`);
  }
  checkVersions(folded);
}
