import { printCallRows } from '#core/calls/sqlite-call-rows.ts';
import type { OpenJournal } from '#core/ledger/embedded/journal.ts';
import { openSqliteJournal } from '#core/ledger/embedded/sqlite-journal.ts';
import { printVideoRows } from '#core/videos/sqlite-video-history.ts';

/** The file's journal in this thread: a test that is not about the thread need not start one. */
export const openJournalHere: OpenJournal = async (path) => {
  const journal = openSqliteJournal(path);
  let closed = false;
  return {
    head: async () => journal.head(),
    readAgents: async (after) => journal.readAgents(after),
    readEnded: async (after, since) => journal.readEnded(after, since),
    readTail: async (after) => journal.readTail(after),
    async commit(batch) {
      const rows = { calls: printCallRows(batch.calls), videos: printVideoRows(batch.videos) };
      journal.commit({ ...batch, ...rows });
    },
    prune: async (bounds) => journal.prune(bounds),
    history: {
      list: async (page) => journal.listCalls(page),
      find: async (callId) => journal.findCall(callId),
      usage: async (range) => journal.usage(range),
    },
    videos: {
      find: async (agentId, videoId) => journal.findVideo(agentId, videoId),
      findByKey: async (agentId, idempotencyKey) => journal.findVideoByKey(agentId, idempotencyKey),
      list: async (agentId, afterVideoId) => journal.listVideos(agentId, afterVideoId),
    },
    async close() {
      if (closed) return;
      closed = true;
      try {
        journal.close();
      } catch {
        // What it had left to write is in the journal's events.
      }
    },
  };
};
