import type { Pepper } from '../accounts/api-key.ts';
import type { CallHistory } from '../calls/call-history.ts';
import type { CallRecord } from '../calls/call-record.ts';
import { projectCall } from '../calls/project-call.ts';
import type { Clock } from '../clock.ts';
import type { CallEnd } from '../events/ledger-event.ts';
import type { AgentStates } from '../ledger/cluster/agent-states.ts';
import type { LedgerLog } from '../ledger/cluster/ledger-log.ts';
import { checkVersions, type FoldedShard, foldToEnd, readCopy } from '../ledger/cluster/shard-fold.ts';
import { foldEvent } from '../ledger/machine/apply.ts';
import type { AgentState } from '../ledger/machine/state.ts';
import { endedVideo } from '../ledger/machine/video.ts';
import type { CassandraVideoHistory } from '../videos/cassandra-video-history.ts';
import type { VideoJob } from '../videos/video-job.ts';
import { archivePepper } from './archived-pepper.ts';
import { BackupError } from './backup-error.ts';
import { listCalls } from './list-calls.ts';
import { listVideos } from './list-videos.ts';
import { placeArchive } from './place-archive.ts';
import type { ArchiveContents } from './read-archive.ts';
import { tryAgain } from './try-again.ts';
import { type ArchiveEntry, writeArchive } from './write-archive.ts';

export interface ClusterBackup {
  /** Replaced when it is there. */
  file: string;
  shards: number;
  log: LedgerLog;
  states: AgentStates;
  history: CallHistory;
  videos: Pick<CassandraVideoHistory, 'list'>;
  peppers: readonly Pepper[];
  clock: Clock;
}

/**
 * Writes what a cluster's log and history hold, while it serves calls or not, and answers what was read back. Each shard
 * stands in it as it is when its turn comes; what no log has yet is not in it.
 */
export function backUpCluster(backup: ClusterBackup): Promise<ArchiveContents> {
  const { file, peppers, clock } = backup;
  const history = patient(backup.history, clock);
  let lastAtMs = 0;
  async function* entries(): AsyncGenerator<ArchiveEntry> {
    for (let shard = 0; shard < backup.shards; shard++) {
      const { folded, calls, videos, wasStarted } = await foldShard(backup, shard);
      lastAtMs = Math.max(lastAtMs, folded.lastAtMs);
      for (const agent of folded.state.agents.values()) {
        const known = { agent, wasStarted, calls: calls.get(agent.agentId) ?? new Map() };
        const ended = listVideos(agent, backup.videos.list(agent.agentId), videos.get(agent.agentId));
        yield { agent, calls: callsOf(known, history), videos: ended };
      }
    }
  }
  return placeArchive(file, (archive) =>
    writeArchive(archive, {
      header: {
        madeAtMs: clock.now(),
        shape: 'cluster',
        peppers: peppers.map((pepper) => archivePepper(pepper, { withSecret: false })),
      },
      entries: entries(),
      lastAtMs: () => lastAtMs,
    }),
  );
}

type CallsById = Map<number, CallRecord>;

/** The calls and videos of each agent that ended after the shard's copy: the history may not have them yet. */
async function foldShard(
  { log, states, clock }: ClusterBackup,
  shard: number,
): Promise<{
  folded: FoldedShard;
  calls: Map<number, CallsById>;
  videos: Map<number, Map<string, VideoJob>>;
  wasStarted: (call: CallRecord) => boolean;
}> {
  const folded = await tryAgain(clock, () => readCopy(states, shard));
  const { state, lastAtMs: lastStartOfCopyMs } = folded;
  const startedSince = new Set<number>();
  const calls = new Map<number, CallsById>();
  const videos = new Map<number, Map<string, VideoJob>>();
  await foldToEnd(log, folded, (event) => {
    const call = projectCall(state, event);
    const video = event.type === 'settled' ? endedVideo(state.agents.get(event.agentId), event) : null;
    if (event.type === 'reserved') startedSince.add(event.callId);
    if (foldEvent(state, event) === 'skipped') return;
    if (call !== null) ofAgent(calls, event.agentId).set(call.callId, call);
    if (video !== null) ofAgent(videos, event.agentId).set(video.videoId, video);
  });
  checkVersions(folded);
  // In the shard's time: of the moment of its last start, other calls may have begun behind the fold.
  const wasStarted = ({ callId, startedAtMs }: CallRecord): boolean =>
    startedAtMs < folded.lastAtMs || startedAtMs === lastStartOfCopyMs || startedSince.has(callId);
  return { folded, calls, videos, wasStarted };
}

function ofAgent<K, V>(byAgent: Map<number, Map<K, V>>, agentId: number): Map<K, V> {
  const known = byAgent.get(agentId) ?? new Map<K, V>();
  byAgent.set(agentId, known);
  return known;
}

interface KnownAgent {
  agent: AgentState;
  /** Before the fold's end. */
  wasStarted: (call: CallRecord) => boolean;
  calls: CallsById;
}

/** Calls as they were at the fold's end, though the history may be behind it, and goes on meanwhile. */
async function* callsOf(known: KnownAgent, history: CallHistory): AsyncGenerator<readonly CallRecord[]> {
  const { agent, calls } = known;
  const left = new Map(calls);
  for await (const portion of listCalls(history, agent.agentId)) {
    yield portion.flatMap((call) => {
      left.delete(call.callId);
      return calls.get(call.callId) ?? asOfFold(known, call) ?? [];
    });
  }
  yield [...left.values()].sort((a, b) => a.callId - b.callId);
}

/** `null`: at the fold's end there was no row of it. */
function asOfFold({ agent, wasStarted }: KnownAgent, call: CallRecord): CallRecord | null {
  const hold = agent.holds.get(call.callId);
  if (hold?.pending === null) return null;
  if (hold !== undefined) {
    const label = agent.keys.get(hold.keyId)?.label ?? call.key.label;
    return { ...toPending(call, hold.pending.end), key: { ...call.key, label } };
  }
  return wasStarted(call) || agent.done.has(call.callId) ? call : null;
}

/** The row as it was before its price came, but for its label, which the settlement may have replaced by a newer one. */
function toPending(call: CallRecord, { durationMs, httpStatus, errorCode, tokens }: CallEnd): CallRecord {
  const end = { durationMs, httpStatus, errorCode, tokens };
  return { ...call, ...end, outcome: 'pending', chargedNanoUsd: 0n };
}

/** A busy store may be late with a page. */
const patient = (history: CallHistory, clock: Clock): CallHistory => ({
  ...history,
  list: (page) =>
    tryAgain(clock, async () => {
      const calls = await history.list(page);
      if (calls === 'unavailable')
        throw new BackupError('Cassandra does not answer with the history of calls.');
      return calls;
    }),
});
