import type { CallRecord } from '../calls/call-record.ts';
import { dayOf } from '../calls/day-number.ts';
import type { HistoryStore, LedgerEntry, UsageSum } from '../calls/history-store.ts';
import type { Clock } from '../clock.ts';
import type { AgentStates } from '../ledger/cluster/agent-states.ts';
import type { LogPosition } from '../ledger/cluster/effective-log.ts';
import { shardOfAgent } from '../ledger/cluster/shards.ts';
import { openingPostings } from '../ledger/machine/postings.ts';
import type { AgentState } from '../ledger/machine/state.ts';
import type { VideoJob } from '../videos/video-job.ts';
import { readArchive } from './read-archive.ts';
import { tryAgain } from './try-again.ts';

export interface WriteShards {
  archive: string;
  /** Where each shard's log begins. */
  places: readonly LogPosition[];
  states: AgentStates;
  history: HistoryStore;
  /** Of the ledger. */
  lastAtMs: number;
  clock: Clock;
}

const AGENTS_AT_ONCE = 50;
const CALLS_AT_ONCE = 1_000;

/** Agents, and rows of their calls, videos, usage and books, all as old as the place where their shard begins. */
export async function writeShards({
  archive,
  places,
  states,
  history,
  lastAtMs,
  clock,
}: WriteShards): Promise<void> {
  let agents: AgentState[] = [];
  let calls: CallRecord[] = [];
  let videos: VideoJob[] = [];
  let usage = new Map<string, UsageSum>();
  let sums: UsageSum[] = [];
  const placeOf = (agentId: number): { shard: number; place: LogPosition } => {
    const shard = shardOfAgent(agentId, places.length);
    const place = places[shard];
    if (place === undefined) throw new Error(`agent ${agentId} has no shard`);
    return { shard, place };
  };
  const write = async () => {
    const entries = agents.map((agent) => openingEntry(agent, placeOf(agent.agentId).place, lastAtMs));
    await tryAgain(clock, async () => {
      const copies = agents.map((agent) => {
        const { shard, place } = placeOf(agent.agentId);
        return states.writeAgents(shard, place, [agent]);
      });
      await Promise.all([...copies, history.write({ calls, entries, usage: sums, videos })]);
    });
    agents = [];
    calls = [];
    videos = [];
    sums = [];
  };
  await readArchive(archive, {
    async onAgent(agent) {
      sums.push(...usage.values());
      usage = new Map();
      if (agents.length >= AGENTS_AT_ONCE) await write();
      agents.push(agent);
    },
    async onCall(call) {
      calls.push(call);
      count(usage, call, placeOf(call.agentId).place);
      if (calls.length >= CALLS_AT_ONCE) await write();
    },
    async onVideo(job) {
      videos.push(job);
      if (videos.length >= CALLS_AT_ONCE) await write();
    },
  });
  sums.push(...usage.values());
  await write();
}

/** Calls come oldest first, so that the name is the latest. */
function count(usage: Map<string, UsageSum>, record: CallRecord, { epoch, seq }: LogPosition): void {
  const { agentId, call, tokens, outcome } = record;
  if (outcome === 'pending') return;
  const day = dayOf(record.startedAtMs);
  const name = `${day} ${call.model}`;
  const known = usage.get(name) ?? { calls: 0, tokens: 0, chargedNanoUsd: 0n };
  usage.set(name, {
    ...{ agentId, day, model: call.model, modelName: call.modelName, epoch, seq },
    calls: known.calls + 1,
    tokens: known.tokens + tokens.prompt + tokens.completion,
    chargedNanoUsd: known.chargedNanoUsd + record.chargedNanoUsd,
  });
}

/** The books of an agent go on from here: what it was before stands in the backup alone. */
const openingEntry = (agent: AgentState, { epoch, seq }: LogPosition, atMs: number): LedgerEntry => ({
  agentId: agent.agentId,
  epoch,
  seq,
  version: agent.version,
  atMs,
  type: 'restored',
  callId: null,
  postings: openingPostings(agent),
});
