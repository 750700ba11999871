import type { Pepper } from '../accounts/api-key.ts';
import type { HistoryStore } from '../calls/history-store.ts';
import type { Clock } from '../clock.ts';
import type { AgentStates } from '../ledger/cluster/agent-states.ts';
import { followStored, LOG_START, type LogPosition } from '../ledger/cluster/effective-log.ts';
import type { LedgerLog, StoredRecord } from '../ledger/cluster/ledger-log.ts';
import { markRecordText } from '../ledger/cluster/log-record.ts';
import { isSamePepper } from './archived-pepper.ts';
import { BackupError } from './backup-error.ts';
import type { ArchiveContents } from './read-archive.ts';
import { checksumOf, planShards, type ShardPlan } from './shard-plan.ts';
import { writeShards } from './write-shards.ts';

export interface ClusterRestore {
  archive: string;
  shards: number;
  log: LedgerLog;
  states: AgentStates;
  history: HistoryStore;
  /** Of the configuration. */
  peppers: readonly Pepper[];
  /** Keeps workers and other restores away; throws where some are at work already. */
  hold: () => Promise<ShardsHold>;
  /** Before anything is changed; throws to leave everything as it is. */
  beforeChange: (contents: ArchiveContents) => Promise<void>;
  clock: Clock;
}

export interface ShardsHold {
  /** Throws where it was lost meanwhile. */
  confirm(): Promise<void>;
  release(): Promise<void>;
}

/** Before it no log has a record, and no shard a copy. */
const EPOCH = 1;
/** Behind the mark with which each shard's log begins. */
const OFFSET = 1n;

/**
 * Makes an empty cluster hold what an archive does: copies of its agents with the place at which a recovery goes on from
 * them, and their calls. What was cut off can be done again with the same archive, and then goes on. Throws
 * `BackupError`.
 */
export async function restoreCluster(restore: ClusterRestore): Promise<ArchiveContents> {
  const { archive, shards, log, states, history, peppers, clock } = restore;
  const { contents, plans } = await planShards(archive, shards);
  checkPeppers(archive, contents, peppers);
  const { sha256: nonce, lastAtMs } = contents;
  const places = plans.map(({ lastSeq }) => ({ epoch: EPOCH, nonce, seq: lastSeq }));
  await restore.beforeChange(contents);
  const hold = await restore.hold();
  try {
    const marked = await findMarked(restore, places);
    if (marked.size === shards) {
      throw new BackupError('This backup has been restored into this cluster before.');
    }
    const unmarked = plans.filter(({ shard }) => !marked.has(shard));
    await writeShards({ archive, places, states, history, lastAtMs, clock });
    for (const plan of unmarked) await prove(states, plan);
    await hold.confirm();
    // All checkpoints before the first mark: a shard that has one and no log stays shut, and none begins empty.
    await Promise.all(
      places.map((position, shard) => states.writeCheckpoint(shard, { position, offset: OFFSET, lastAtMs })),
    );
    await Promise.all(unmarked.map(({ shard }) => log.append(shard, [markRecordText(EPOCH, nonce)])));
    for (const { shard } of unmarked) {
      if ((await firstNonce(log, shard)) !== nonce) throw inUse(shard);
    }
    return contents;
  } finally {
    await hold.release();
  }
}

/** Each secret has to be the very one: with another one, every key would be unknown. */
function checkPeppers(
  archive: string,
  { header, pepperIds }: ArchiveContents,
  peppers: readonly Pepper[],
): void {
  for (const id of pepperIds) {
    const archived = header.peppers.find((each) => each.id === id);
    if (archived === undefined) throw new BackupError(`It does not say with which secret ${id} was made.`);
    if (peppers.some((pepper) => isSamePepper(archived, pepper))) continue;
    const where =
      archived.secret === null
        ? 'the one that the cluster of the backup had'
        : `the base64 that "secret" stands for in its first line (zcat ${archive} | head -1)`;
    throw new BackupError(
      `Its keys are hashed with the secret ${id}, which the configuration does not have. Write storage.keyPepper, or ` +
        `storage.previousKeyPepper, with id: ${id}, and give it ${where}.`,
    );
  }
}

/**
 * Shards for which a restore of this archive, which was cut off, has done everything. Throws where a shard has been in
 * use otherwise.
 */
async function findMarked(
  { log, states }: ClusterRestore,
  places: readonly LogPosition[],
): Promise<Set<number>> {
  const ends = await log.ends();
  const checkpoints = await Promise.all(places.map((_, shard) => states.readCheckpoint(shard)));
  const isOurs = (shard: number): boolean => {
    const at = checkpoints[shard]?.position;
    const place = places[shard];
    return at !== undefined && at.nonce === place?.nonce && at.seq === place.seq;
  };
  const isEmpty = (shard: number): boolean => (ends.get(shard) ?? 0n) === 0n;
  const wasCutOff = places.some((_, shard) => isOurs(shard) && isEmpty(shard));
  const marked = new Set<number>();
  for (const [shard, { nonce }] of places.entries()) {
    if (isEmpty(shard) && (isOurs(shard) || checkpoints[shard] === null)) continue;
    // Since then workers may have gone on from there.
    const isMarked =
      !isEmpty(shard) && (isOurs(shard) || (wasCutOff && (await firstNonce(log, shard)) === nonce));
    if (!isMarked) throw inUse(shard);
    marked.add(shard);
  }
  return marked;
}

const inUse = (shard: number): BackupError =>
  new BackupError(
    `The cluster is in use: shard ${shard} has a log, or copies of agents. A backup is restored into an empty one, after ` +
      'faregate migrate and before the first worker starts: a new topic, a new keyspace and an empty Redis.',
  );

/** Of the mark with which a shard's log begins. */
async function firstNonce(log: LedgerLog, shard: number): Promise<string | null> {
  let first: StoredRecord | null = null;
  await log.readToEnd(new Map([[shard, 0n]]), (_, record) => {
    first ??= record;
  });
  if (first === null) return null;
  const position = { ...LOG_START };
  followStored(position, first);
  return position.nonce;
}

/** What a recovery would find is what was written, and nothing that another restore has left. */
async function prove(states: AgentStates, { shard, copies }: ShardPlan): Promise<void> {
  let isSame = true;
  let found = 0;
  await states.readAgents(shard, (agent) => {
    isSame &&= copies.get(agent.agentId) === checksumOf(agent);
    found++;
  });
  if (isSame && found === copies.size) return;
  throw new BackupError(
    `The copies of shard ${shard}'s agents are not those of the backup: a restore of another one was cut off here. ` +
      'Restore into a new keyspace.',
  );
}
