import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Pepper } from '../accounts/api-key.ts';
import { newPepper, PEPPER_FILE, readPepper, writePepper } from '../accounts/pepper-file.ts';
import { isoTime, type MachineClock, systemClock } from '../clock.ts';
import { dropClockFileAhead } from '../clock-file.ts';
import { openFolded } from '../ledger/embedded/journal-recovery.ts';
import { lockFolder } from '../ledger/embedded/sqlite-folder-lock.ts';
import { openJournalThread } from '../ledger/embedded/sqlite-journal-thread.ts';
import { makePrivateFolder, syncFolder } from '../private-folder.ts';
import { isSamePepper, pepperOf } from './archived-pepper.ts';
import { BackupError } from './backup-error.ts';
import { asideFolder, LEDGER_FILE, pendingRestore, preparedFolder, putInPlace } from './finish-restore.ts';
import { type ArchiveContents, readArchive } from './read-archive.ts';
import { writeLedgerFile } from './write-ledger-file.ts';

export interface FolderRestore {
  archive: string;
  /** Made when it is missing. */
  dataDir: string;
  nowMs: number;
  /** The machine's, unless a test has one. */
  uptime?: Pick<MachineClock, 'uptimeMs' | 'bootId'>;
  /**
   * Before anything is changed: a ledger in the folder, if there is one, is moved aside. Throws to leave everything as it
   * is.
   */
  beforeChange: (contents: ArchiveContents, isOccupied: boolean) => Promise<void>;
}

export interface FolderRestored {
  contents: ArchiveContents;
  /** The folder where what stood there is now. */
  movedTo: string | null;
}

/**
 * Makes a data folder hold what an archive does, whole or not at all, whenever it is cut off. Throws `BackupError` for
 * an archive that cannot be restored and `FolderInUseError` when a gateway runs on the folder.
 */
export async function restoreFolder(restore: FolderRestore): Promise<FolderRestored> {
  const { archive, dataDir, nowMs, uptime = systemClock, beforeChange } = restore;
  const contents = await readArchive(archive);
  const lock = lockFolder(dataDir);
  try {
    const pending = pendingRestore(dataDir);
    if (pending !== null) putInPlace(dataDir, pending);
    const pepper = choosePepper(contents, dataDir);
    await beforeChange(contents, existsSync(join(dataDir, LEDGER_FILE)));
    const name = freeName(dataDir, nowMs);
    await prepare(preparedFolder(dataDir, name), { archive, dataDir, contents, pepper });
    dropClockFileAhead(dataDir, {
      now: () => nowMs,
      uptimeMs: () => uptime.uptimeMs(),
      bootId: uptime.bootId,
    });
    putInPlace(dataDir, name);
    const aside = asideFolder(dataDir, name);
    return { contents, movedTo: existsSync(aside) ? aside : null };
  } finally {
    lock.release();
  }
}

/** By the time, so that the operator can tell several apart. */
function freeName(dataDir: string, nowMs: number): string {
  const time = isoTime(nowMs).replaceAll(':', '-');
  const name = (n: number) => (n === 1 ? time : `${time}-${n}`);
  for (let n = 1; ; n++) if (!existsSync(asideFolder(dataDir, name(n)))) return name(n);
}

/** The one to put beside the restored ledger; `null`: the folder's own stays. */
function choosePepper({ header, pepperIds }: ArchiveContents, dataDir: string): Pepper | null {
  const [archived, other] = header.peppers.filter(({ id, secret }) => pepperIds.has(id) || secret !== null);
  if (other !== undefined) {
    throw new BackupError(
      `Its keys are hashed with two secrets, ${[...pepperIds].join(' and ')}, and a gateway in one process has one. ` +
        'Revoke the keys of the older one, and make a new backup.',
    );
  }
  const unknown = [...pepperIds].find((id) => id !== archived?.id);
  if (unknown !== undefined) throw new BackupError(`It does not say with which secret ${unknown} was made.`);
  const own = readPepper(dataDir);
  if (archived === undefined) return own === null ? newPepper() : null;
  const pepper = pepperOf(archived);
  if (pepper !== null) return pepper;
  if (own !== null && isSamePepper(archived, own)) return null;
  throw new BackupError(
    `It was made in a cluster and does not hold the secret that its keys are hashed with. Write that of ` +
      `storage.keyPepper into ${join(dataDir, PEPPER_FILE)} as {"id":"${archived.id}","secret":"<base64>"}, ` +
      'readable by its owner only, and restore again.',
  );
}

interface Prepared {
  archive: string;
  dataDir: string;
  contents: ArchiveContents;
  pepper: Pepper | null;
}

const PARTIAL = 'restore.partial';

/** From the rename on the restore counts, and is completed whatever happens. */
async function prepare(prepared: string, { archive, dataDir, contents, pepper }: Prepared): Promise<void> {
  const partial = join(dataDir, PARTIAL);
  // Of a restore that was cut off.
  rmSync(partial, { recursive: true, force: true });
  try {
    makePrivateFolder(partial);
    const file = join(partial, LEDGER_FILE);
    await writeLedgerFile(file, archive, contents);
    await prove(file, contents);
    if (pepper !== null) writePepper(partial, pepper);
    const left = readdirSync(partial).filter((name) => name !== LEDGER_FILE && name !== PEPPER_FILE);
    if (left.length > 0) throw new BackupError(`${left.join(', ')} could not be written into ${file}.`);
    syncFolder(partial);
    renameSync(partial, prepared);
    syncFolder(dataDir);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw error;
  }
}

/** Opens it as a start does, which checks every agent and their sum. */
async function prove(file: string, contents: ArchiveContents): Promise<void> {
  const { journal, folded } = await openFolded(openJournalThread, file, () => {});
  await journal.close();
  if (folded.state.agents.size !== contents.agents || folded.head.lastAtMs !== contents.lastAtMs) {
    throw new BackupError(`${file} does not hold what the archive does.`);
  }
}
