import { createHash } from 'node:crypto';
import { type FileHandle, open, readdir, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../accounts/private-file.ts';
import type { Clock } from '../clock.ts';
import { AtomicFiles } from './atomic-files.ts';
import { type FileName, fileKinds, formatFileName, hasEnded } from './file-name.ts';
import { type FileStore, StorageFullError } from './file-store.ts';
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

export function openLocalFileStore({ dataDir, publicUrl, clock }: LocalFileOptions): LocalFileStore {
  const folder = join(dataDir, FILES);
  const files = new AtomicFiles(folder);
  const links = createLocalLinks(loadOrCreateLinkKey(dataDir));
  const senders = new Map<string, Sender>();
  const base = (): string => `${publicUrl().replace(/\/v1$/, '')}/files/`;
  const address = (path: string, query: string): string => `${base()}${path}?${query}`;
  const pathOf = (name: FileName): string => join(folder, formatFileName(name));

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
        return await files.create(path, async (file) => (await writeAll(file, sender.chunks)) === bytes);
      } finally {
        if (senders.get(path) === sender) senders.delete(path);
      }
    },
    async write(name, chunks) {
      const hash = createHash('sha256');
      let bytes = 0;
      try {
        await files.replace(formatFileName(name), async (file) => {
          for await (const chunk of chunks) {
            await file.writeFile(chunk);
            hash.update(chunk);
            bytes += chunk.length;
          }
        });
      } catch (error) {
        throw isFull(error) ? new StorageFullError('The disk is full.', { cause: error }) : error;
      }
      return { bytes, sha256: hash.digest('hex') };
    },
    read: (name, bytesMax) => readBounded(pathOf(name), bytesMax),
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
    deleteEnded: (nowMs, signal) => deleteEnded(folder, nowMs, signal),
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

/** Of the disk, of its owner's share of it, or of the largest file that it takes. */
const isFull = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT', 'EFBIG'].some((code) => hasCode(error, code));

async function readBounded(path: string, bytesMax: number): Promise<Buffer | null> {
  const file = await unlessMissing(open(path, 'r'));
  if (file === null) return null;
  try {
    const { size } = await file.stat();
    if (size > bytesMax) throw new Error(`A file is longer than ${bytesMax} bytes.`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

async function deleteEnded(folder: string, nowMs: number, signal: AbortSignal): Promise<void> {
  for (const kind of fileKinds) {
    for (const hour of await list(join(folder, kind))) {
      if (signal.aborted) return;
      if (hasEnded(hour, nowMs)) await rm(join(folder, kind, hour), { recursive: true, force: true });
    }
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
