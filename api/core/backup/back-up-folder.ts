import { statSync } from 'node:fs';
import { join } from 'node:path';
import { PEPPER_FILE, PepperError, readPepper } from '../accounts/pepper-file.ts';
import { copySqlite } from '../drivers/sqlite.ts';
import { emptyBatch, type Journal } from '../ledger/embedded/journal.ts';
import { JournalDamagedError } from '../ledger/embedded/journal-errors.ts';
import type { Folded } from '../ledger/embedded/journal-fold.ts';
import { type OpenedJournal, openFolded } from '../ledger/embedded/journal-recovery.ts';
import { openJournalThread } from '../ledger/embedded/sqlite-journal-thread.ts';
import type { VideoJob } from '../videos/video-job.ts';
import { archivePepper } from './archived-pepper.ts';
import { BackupError } from './backup-error.ts';
import { LEDGER_FILE, pendingRestore } from './finish-restore.ts';
import { listCalls } from './list-calls.ts';
import { listVideos } from './list-videos.ts';
import { placeArchive } from './place-archive.ts';
import type { ArchiveContents } from './read-archive.ts';
import { type ArchiveEntry, writeArchive } from './write-archive.ts';

export interface FolderBackup {
  dataDir: string;
  /** Replaced when it is there. */
  file: string;
  nowMs: number;
}

/**
 * Writes what a data folder's ledger holds at one moment, whether its gateway runs or not, and answers what was read
 * back.
 */
export async function backUpFolder({ dataDir, file, nowMs }: FolderBackup): Promise<ArchiveContents> {
  const ledgerFile = join(dataDir, LEDGER_FILE);
  if (pendingRestore(dataDir) !== null) {
    throw new BackupError(`A restore into ${dataDir} was cut off. Start its gateway, which completes it.`);
  }
  if (statSync(ledgerFile, { throwIfNoEntry: false }) === undefined) {
    throw new BackupError(`There is no gateway's data in ${dataDir}. FAREGATE_DATA names another folder.`);
  }
  return placeArchive(file, async (archive, workFolder) => {
    const copy = join(workFolder, LEDGER_FILE);
    await copySqlite(ledgerFile, copy);
    const opened = await openCopy(copy, ledgerFile);
    try {
      await archiveLedger(opened, { dataDir, archive, nowMs });
    } finally {
      await opened.journal.close();
    }
  });
}

/** Its troubles are the original's. */
async function openCopy(copy: string, original: string): Promise<OpenedJournal> {
  try {
    return await openFolded(openJournalThread, copy, () => {});
  } catch (error) {
    if (!(error instanceof JournalDamagedError)) throw error;
    throw new JournalDamagedError(original, error.seq, error.problem, { cause: error });
  }
}

async function archiveLedger(
  { journal, folded }: OpenedJournal,
  { dataDir, archive, nowMs }: { dataDir: string; archive: string; nowMs: number },
): Promise<void> {
  const { lastSeq, lastAtMs } = folded.head;
  const pepper = readPepper(dataDir);
  if (pepper === null && lastSeq > 0) throw new PepperError(join(dataDir, PEPPER_FILE), 'missing');
  await completeHistory(journal, folded);
  await writeArchive(archive, {
    header: {
      madeAtMs: nowMs,
      shape: 'embedded',
      peppers: pepper === null ? [] : [archivePepper(pepper, { withSecret: true })],
    },
    entries: entriesOf(journal, folded),
    lastAtMs: () => lastAtMs,
  });
}

/** Calls whose rows the gateway had not written yet. */
const completeHistory = (journal: Journal, { head, calls }: Folded): Promise<void> =>
  journal.commit({
    ...emptyBatch,
    firstSeq: head.lastSeq + 1,
    lastSeq: head.lastSeq,
    atMs: head.lastAtMs,
    calls,
  });

async function* entriesOf({ history, videos }: Journal, { state }: Folded): AsyncGenerator<ArchiveEntry> {
  for (const agent of state.agents.values()) {
    const ended = videosOf(videos, agent.agentId);
    yield { agent, calls: listCalls(history, agent.agentId), videos: listVideos(agent, ended) };
  }
}

async function* videosOf(videos: Journal['videos'], agentId: number): AsyncGenerator<readonly VideoJob[]> {
  let afterVideoId = '';
  for (;;) {
    const portion = await videos.list(agentId, afterVideoId);
    const last = portion.at(-1);
    if (last === undefined) return;
    yield portion;
    afterVideoId = last.videoId;
  }
}
