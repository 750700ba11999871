import type { CallRecord } from '../calls/call-record.ts';
import { type AgentRow, type EndedCall, emptyBatch, type Journal } from '../ledger/embedded/journal.ts';
import { toAgentRow } from '../ledger/embedded/journal-fold.ts';
import { packEvents } from '../ledger/embedded/packed-events.ts';
import { openJournalThread } from '../ledger/embedded/sqlite-journal-thread.ts';
import { isKept } from '../ledger/machine/recently-settled.ts';
import type { AgentState } from '../ledger/machine/state.ts';
import type { VideoJob } from '../videos/video-job.ts';
import { type ArchiveContents, readArchive } from './read-archive.ts';

const AGENTS_AT_ONCE = 100;
const CALLS_AT_ONCE = 1_000;
const ENDED_CALLS_AT_ONCE = 1_000;

/**
 * A new journal that holds what an archive does: the agents as snapshots, the calls as history, and no events but
 * their number. `contents` is what the archive was found to hold before.
 */
export async function writeLedgerFile(
  file: string,
  archive: string,
  contents: ArchiveContents,
): Promise<void> {
  const journal = await openJournalThread(file, { onBroken: () => {} });
  try {
    const ended = await writeAgents(journal, archive, contents);
    await writeEnds(journal, ended, contents);
  } finally {
    await journal.close();
  }
}

/** Answers the ended calls that still count: the journal keeps them apart from the agents. */
async function writeAgents(
  journal: Journal,
  archive: string,
  { lastSeq, lastAtMs }: ArchiveContents,
): Promise<EndedCall[]> {
  const ended: EndedCall[] = [];
  let calls: CallRecord[] = [];
  let videos: VideoJob[] = [];
  let agents: AgentRow[] = [];
  const commit = async () => {
    const rows = { calls, videos, agents };
    await journal.commit({ ...emptyBatch, firstSeq: lastSeq + 1, lastSeq, atMs: lastAtMs, ...rows });
    calls = [];
    videos = [];
    agents = [];
  };
  // Behind its calls: a commit with agents brings to the disk all rows of the history that wait, the last ones, too.
  let agent: AgentRow | null = null;
  await readArchive(archive, {
    async onAgent(next) {
      if (agent !== null) agents.push(agent);
      agent = toAgentRow(next);
      ended.push(...endedCalls(next, lastAtMs));
      if (agents.length >= AGENTS_AT_ONCE) await commit();
    },
    async onCall(call) {
      calls.push(call);
      if (calls.length >= CALLS_AT_ONCE) await commit();
    },
    async onVideo(job) {
      videos.push(job);
      if (videos.length >= CALLS_AT_ONCE) await commit();
    },
  });
  if (agent !== null) agents.push(agent);
  await commit();
  return ended;
}

function* endedCalls({ agentId, done }: AgentState, nowMs: number): Generator<EndedCall> {
  for (const [callId, call] of done) {
    if (!isKept(call, nowMs)) continue;
    yield [agentId, callId, call.nonce, String(call.chargedNanoUsd), call.settledAtMs];
  }
}

/** The last rows of a journal whose other rows were pruned: in order of time, the last at the last event's. */
async function writeEnds(
  journal: Journal,
  ended: EndedCall[],
  { lastSeq, lastAtMs }: ArchiveContents,
): Promise<void> {
  if (lastSeq === 0) return;
  ended.sort((a, b) => settledAtMs(a) - settledAtMs(b));
  const rows = Math.max(1, Math.ceil(ended.length / ENDED_CALLS_AT_ONCE));
  for (let row = 1; row <= rows; row++) {
    const calls = ended.slice((row - 1) * ENDED_CALLS_AT_ONCE, row * ENDED_CALLS_AT_ONCE);
    const newest = calls.at(-1);
    const seq = lastSeq - rows + row;
    await journal.commit({
      ...emptyBatch,
      firstSeq: seq,
      lastSeq: seq,
      atMs: row === rows || newest === undefined ? lastAtMs : settledAtMs(newest),
      events: NO_EVENTS,
      ended: JSON.stringify(calls),
      checkpointSeq: row === rows ? lastSeq : null,
    });
  }
}

const NO_EVENTS = packEvents([]);
const settledAtMs = ([, , , , atMs]: EndedCall): number => atMs;
