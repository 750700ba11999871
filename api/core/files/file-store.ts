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
  /** Deletes the files that no link leads to any more. Any number of processes may do so at once. May be stopped. */
  deleteEnded(nowMs: number, signal: AbortSignal): Promise<void>;
}

export interface PutLink {
  url: string;
  /** To be sent with the PUT. */
  headers: Record<string, string>;
}
