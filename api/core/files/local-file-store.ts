import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type FileHandle, link, mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode, OWNER_ONLY } from '../accounts/private-file.ts';
import type { Clock } from '../clock.ts';
import { randomBase62 } from '../ids.ts';
import { makePrivateFolder, OWNER_ONLY_FOLDER } from '../private-folder.ts';
import { type FileName, fileKinds, formatFileName, hasEnded } from './file-name.ts';
import { type FileStore, StorageFullError, type WrittenFile } from './file-store.ts';
import { createLocalLinks, type LinkCheck, loadOrCreateLinkKey } from './local-links.ts';
import { parseOwnLink } from './own-link.ts';

/** Files in the data folder, behind links to this gateway itself: `mount-files.ts` serves them. */
export interface LocalFileStore extends FileStore {
  kind: 'local';
  /** Below it stands each file under its name. */
  folder: string;
  checkLink(method: 'GET' | 'PUT', name: FileName, query: string): LinkCheck;
  /**
   * Stores a file, whole and on the disk, or not at all. A sender of the same file that has not ended yet is cut: its
   * connection may be dead, and who sends again should not have to wait for that to be noticed.
   *
   * @returns `taken`: another whole one was there before. `cut`: the sender left.
   */
  receive(name: FileName, bytes: number, sender: Sender): Promise<'stored' | 'taken' | 'cut'>;
}

export interface Sender {
  chunks: AsyncIterable<Uint8Array>;
  /** Ends the connection. */
  cut(): void;
}

export interface LocalFileOptions {
  /** Locked by this process. */
  dataDir: string;
  /** Of the API, with `/v1` at its end. Known once the port is. */
  publicUrl: () => string;
  clock: Clock;
}

const FILES = 'files';
/** What is on its way. Beside the files, so that a whole one gets its name in one step. */
const INCOMING = 'incoming';

export function openLocalFileStore({ dataDir, publicUrl, clock }: LocalFileOptions): LocalFileStore {
  const folder = join(dataDir, FILES);
  const incoming = join(folder, INCOMING);
  // Of a process that was killed.
  rmSync(incoming, { recursive: true, force: true });
  makePrivateFolder(incoming);
  const links = createLocalLinks(loadOrCreateLinkKey(dataDir));
  const senders = new Map<string, Sender>();
  const base = (): string => `${publicUrl().replace(/\/v1$/, '')}/files/`;
  const address = (path: string, query: string): string => `${base()}${path}?${query}`;
  const pathOf = (name: FileName): string => join(folder, formatFileName(name));

  /** `fill` answers whether what it wrote is a whole file, `place` what came of giving it its name. */
  async function store<T>(fill: (file: FileHandle) => Promise<boolean>, place: Place<T>): Promise<T | 'cut'> {
    const temporary = join(incoming, randomBase62(16));
    const file = await open(temporary, 'wx', OWNER_ONLY);
    try {
      try {
        if (!(await fill(file))) return 'cut';
        await file.sync();
      } finally {
        await file.close();
      }
      return await place(temporary);
    } finally {
      // One that was renamed is gone.
      await rm(temporary, { force: true });
    }
  }

  return {
    kind: 'local',
    folder,
    async putLink(name, bytes, untilMs) {
      const path = formatFileName(name);
      const query = links.query(path, { method: 'PUT', bytes }, untilMs);
      return { url: address(path, query), headers: { 'Content-Type': name.contentType } };
    },
    async getLink(name, untilMs) {
      const path = formatFileName(name);
      return address(path, links.query(path, { method: 'GET' }, untilMs));
    },
    checkLink: (method, name, query) => links.check(method, formatFileName(name), query, clock.now()),
    async receive(name, bytes, sender) {
      const path = formatFileName(name);
      senders.get(path)?.cut();
      senders.set(path, sender);
      try {
        return await store(
          async (file) => (await writeAll(file, sender.chunks)) === bytes,
          (temporary) => linkTo(temporary, folder, path),
        );
      } finally {
        if (senders.get(path) === sender) senders.delete(path);
      }
    },
    async write(name, chunks) {
      const hash = createHash('sha256');
      let bytes = 0;
      try {
        await store(
          async (file) => {
            for await (const chunk of chunks) {
              await file.writeFile(chunk);
              hash.update(chunk);
              bytes += chunk.length;
            }
            return true;
          },
          (temporary) => renameTo(temporary, folder, formatFileName(name)),
        );
      } catch (error) {
        throw isFull(error) ? new StorageFullError('The disk is full.', { cause: error }) : error;
      }
      return { bytes, sha256: hash.digest('hex') } satisfies WrittenFile;
    },
    async read(name, bytesMax) {
      const file = await unlessMissing(open(pathOf(name), 'r'));
      if (file === null) return null;
      try {
        const { size } = await file.stat();
        if (size > bytesMax) throw new Error(`A file is longer than ${bytesMax} bytes.`);
        return await file.readFile();
      } finally {
        await file.close();
      }
    },
    async size(name) {
      return (await unlessMissing(stat(pathOf(name))))?.size ?? null;
    },
    async delete(name) {
      await unlessMissing(unlink(pathOf(name)));
    },
    parseLink(url) {
      const own = parseOwnLink(url, base());
      if (!own.ok) return own.owner;
      const { name, query } = own;
      const link = links.check('GET', formatFileName(name), query, clock.now());
      return link.ok
        ? { kind: 'ours', name, untilMs: link.untilMs }
        : { kind: 'refused', reason: link.reason };
    },
    async deleteEnded(nowMs, signal) {
      for (const kind of fileKinds) {
        for (const hour of await list(join(folder, kind))) {
          if (signal.aborted) return;
          if (hasEnded(hour, nowMs)) await rm(join(folder, kind, hour), { recursive: true, force: true });
        }
      }
    },
  };
}

/** How many bytes came, which are fewer than announced when the sender left. */
async function writeAll(file: FileHandle, chunks: AsyncIterable<Uint8Array>): Promise<number> {
  const iterator = chunks[Symbol.asyncIterator]();
  let written = 0;
  for (;;) {
    // Only the sender's failure is an answer; that of the disk is thrown.
    const next = await iterator.next().catch(() => null);
    if (next === null || next.done) return written;
    await file.writeFile(next.value);
    written += next.value.length;
  }
}

type Place<T> = (temporary: string) => Promise<T>;

/** A link, unlike a rename, never replaces what is there. */
async function linkTo(temporary: string, folder: string, path: string): Promise<'stored' | 'taken'> {
  const target = join(folder, path);
  await makeFolders(folder, path.split('/').slice(0, -1));
  try {
    await link(temporary, target);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return 'taken';
    throw error;
  }
  await syncFolder(dirname(target));
  return 'stored';
}

async function renameTo(temporary: string, folder: string, path: string): Promise<void> {
  const target = join(folder, path);
  await makeFolders(folder, path.split('/').slice(0, -1));
  await rename(temporary, target);
  await syncFolder(dirname(target));
}

/** Of the disk, of its owner's share of it, or of the largest file that it takes. */
const isFull = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT', 'EFBIG'].some((code) => hasCode(error, code));

async function makeFolders(root: string, names: readonly string[]): Promise<void> {
  let parent = root;
  for (const name of names) {
    const folder = join(parent, name);
    try {
      await mkdir(folder, OWNER_ONLY_FOLDER);
      await syncFolder(parent);
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
    parent = folder;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const list = async (folder: string): Promise<string[]> => (await unlessMissing(readdir(folder))) ?? [];

async function unlessMissing<T>(done: Promise<T>): Promise<T | null> {
  try {
    return await done;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}
