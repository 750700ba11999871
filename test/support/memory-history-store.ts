import type { CallRecord } from '#core/calls/call-record.ts';
import type { HistoryStore, LedgerEntry, UsageKey, UsageSum } from '#core/calls/history-store.ts';
import type { VideoJob } from '#core/videos/video-job.ts';

/** All rows of a history, in an order that only they decide. */
export interface StoredHistory {
  calls: CallRecord[];
  entries: LedgerEntry[];
  usage: UsageSum[];
  videos: VideoJob[];
}

export interface MemoryHistoryStore extends HistoryStore {
  stored(): StoredHistory;
}

/** Rows in memory, by the rules of the real store: what is older never replaces what is newer. */
export function createMemoryHistoryStore(): MemoryHistoryStore {
  const calls = new Map<string, CallRecord>();
  const entries = new Map<string, LedgerEntry>();
  const sums = new Map<string, UsageSum>();
  const videos = new Map<string, VideoJob>();
  return {
    stored: () =>
      inOrder({
        calls: [...calls.values()],
        entries: [...entries.values()],
        usage: [...sums.values()],
        videos: [...videos.values()],
      }),
    async write(rows) {
      for (const call of rows.calls) {
        const name = `${call.agentId} ${call.callId}`;
        const known = calls.get(name);
        if (known === undefined || known.outcome === 'pending') calls.set(name, structuredClone(call));
      }
      for (const entry of rows.entries) entries.set(`${entry.agentId} ${entry.seq}`, structuredClone(entry));
      for (const job of rows.videos) videos.set(`${job.agentId} ${job.videoId}`, structuredClone(job));
      for (const sum of rows.usage) {
        const known = sums.get(nameOf(sum));
        if (known === undefined || known.seq < sum.seq) sums.set(nameOf(sum), structuredClone(sum));
      }
    },
    async readUsage(key) {
      const sum = sums.get(nameOf(key));
      return sum === undefined ? null : structuredClone(sum);
    },
  };
}

const nameOf = ({ agentId, day, model }: UsageKey): string => `${agentId} ${day} ${model}`;

export function inOrder({ calls, entries, usage, videos }: StoredHistory): StoredHistory {
  return {
    calls: calls.sort((a, b) => a.agentId - b.agentId || a.callId - b.callId),
    entries: entries.sort((a, b) => a.agentId - b.agentId || a.seq - b.seq),
    usage: usage.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)),
    videos: videos.sort((a, b) => a.agentId - b.agentId || a.callId - b.callId),
  };
}

/** What a history says was charged, three times. */
export const chargedIn = ({
  calls,
  entries,
  usage,
}: StoredHistory): { calls: bigint; entries: bigint; usage: bigint } => ({
  calls: calls.reduce((sum, call) => sum + call.chargedNanoUsd, 0n),
  entries: entries
    .flatMap(({ postings }) => postings)
    .reduce((sum, { to, nanoUsd }) => sum + (to === 'charged' ? nanoUsd : 0n), 0n),
  usage: usage.reduce((sum, { chargedNanoUsd }) => sum + chargedNanoUsd, 0n),
});
