import type { FileName } from './file-name.ts';

/**
 * Where files are kept: behind links that let their holder do one thing with one file for a while. Both homes refuse
 * any other method, size, type and time by themselves: the bytes never pass the API.
 */
export interface FileStore {
  /** For one PUT of exactly so many bytes of the file's type. The first whole one counts; nothing replaces it. */
  putLink(name: FileName, bytes: number, untilMs: number): Promise<PutLink>;
  /** Times of links are whole seconds. */
  getLink(name: FileName, untilMs: number): Promise<string>;
  /**
   * Keeps what this gateway has made or fetched, whole and durable or not at all, never all of it in memory. A second whole one
   * replaces the first. Throws what `chunks` throws; `StorageFullError` when there is no room; any other error: storage is down.
   */
  write(name: FileName, chunks: AsyncIterable<Uint8Array>): Promise<WrittenFile>;
  /** The bytes of a file that is to be at most so long; `null`: there is none. Throws when it is longer. */
  read(name: FileName, bytesMax: number): Promise<Buffer | null>;
  /** How long a file is; `null`: there is none. */
  size(name: FileName): Promise<number | null>;
  /** One that is gone already is no error. */
  delete(name: FileName): Promise<void>;
  /** The file that a link of this store leads to, genuine and not ended; `foreign`: no link of this store at all. */
  parseLink(url: string): LinkOwner;
  /** Deletes the files that no link leads to any more. Any number of processes may do so at once. May be stopped. */
  deleteEnded(nowMs: number, signal: AbortSignal): Promise<void>;
}

export interface WrittenFile {
  bytes: number;
  /** Lower case, hexadecimal. */
  sha256: string;
}

export type LinkOwner =
  | { kind: 'ours'; name: FileName; untilMs: number }
  /** At this store's address, but forged, ended or of no file. */
  | { kind: 'refused'; reason: 'forged' | 'expired' }
  | { kind: 'foreign' };

export class StorageFullError extends Error {
  override readonly name = 'StorageFullError';
}

export interface PutLink {
  url: string;
  /** To be sent with the PUT. */
  headers: Record<string, string>;
}
