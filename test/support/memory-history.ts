import type { CallHistory, UsageRow } from '#core/calls/call-history.ts';
import type { CallRecord } from '#core/calls/call-record.ts';
import { dayNumber, dayText } from '#core/calls/day-number.ts';
import type { HistoryStore, LedgerEntry, UsageKey, UsageSum } from '#core/calls/history-store.ts';
import type { CassandraVideoHistory } from '#core/videos/cassandra-video-history.ts';
import type { VideoJob } from '#core/videos/video-job.ts';

export interface MemoryHistory extends HistoryStore {
  read: CallHistory;
  videos: Pick<CassandraVideoHistory, 'list'>;
  entries(agentId: number): LedgerEntry[];
}

/** The cluster's history in memory, by the rules of the real store: what is older never replaces what is newer. */
export function createMemoryHistory(): MemoryHistory {
  const calls = new Map<string, CallRecord>();
  const entries = new Map<string, LedgerEntry>();
  const usage = new Map<string, UsageSum>();
  const videos = new Map<string, VideoJob>();
  const nameOf = ({ agentId, day, model }: UsageKey) => `${agentId} ${day} ${model}`;
  return {
    async write(rows) {
      for (const call of rows.calls) {
        const name = `${call.agentId} ${call.callId}`;
        if (call.outcome !== 'pending' || !calls.has(name)) calls.set(name, structuredClone(call));
      }
      for (const entry of rows.entries) entries.set(`${entry.agentId} ${entry.epoch} ${entry.seq}`, entry);
      for (const job of rows.videos) videos.set(`${job.agentId} ${job.videoId}`, structuredClone(job));
      for (const sum of rows.usage) {
        const known = usage.get(nameOf(sum));
        if (known === undefined || known.epoch < sum.epoch || known.seq <= sum.seq)
          usage.set(nameOf(sum), { ...sum });
      }
    },
    async readUsage(key) {
      const sum = usage.get(nameOf(key));
      return sum === undefined ? null : { ...sum };
    },
    entries: (agentId) => [...entries.values()].filter((entry) => entry.agentId === agentId),
    videos: {
      async *list(agentId) {
        const ofAgent = [...videos.values()].filter((job) => job.agentId === agentId);
        yield ofAgent.sort((a, b) => (a.videoId < b.videoId ? -1 : 1));
      },
    },
    read: {
      list: async ({ agentId, keyId, limit, beforeCallId = Number.MAX_SAFE_INTEGER }) =>
        [...calls.values()]
          .filter((call) => call.agentId === agentId && call.callId < beforeCallId)
          .filter(({ key }) => keyId === undefined || key.keyId === keyId)
          .sort((a, b) => b.callId - a.callId)
          .slice(0, limit),
      find: async (callId) => [...calls.values()].find((call) => call.callId === callId) ?? null,
      usage: async ({ agentId, fromDay, toDay }) =>
        [...usage.values()]
          .filter((sum) => sum.agentId === agentId)
          .filter(({ day }) => day >= dayNumber(fromDay) && day <= dayNumber(toDay))
          .sort((a, b) => a.day - b.day || (a.model < b.model ? -1 : 1))
          .map(toUsageRow),
    },
  };
}

const toUsageRow = ({ day, model, modelName, calls, tokens, chargedNanoUsd }: UsageSum): UsageRow => ({
  ...{ day: dayText(day), model, modelName, calls, tokens, chargedNanoUsd },
});
