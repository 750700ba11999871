import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Draw } from '../ledger/history/random.ts';

/**
 * What fault-shim.c recorded, one change a record: W write, T truncate, S sync, E sync that failed, C create, U unlink,
 * R rename (`data` is the new path), D sync of a folder, A something told to a client.
 */
export interface DiskChange {
  op: string;
  path: string;
  offset: number;
  data: Buffer;
}

const HEAD_BYTES = 17;

/** Throws for a torn record: what follows one would be read as its data, and be missing in silence. */
export function readRecord(file: string): DiskChange[] {
  const bytes = readFileSync(file);
  const changes: DiskChange[] = [];
  let at = 0;
  const torn = () => new Error(`the record of the disk is torn at ${at}`);
  while (at < bytes.length) {
    if (at + HEAD_BYTES > bytes.length) throw torn();
    const op = String.fromCharCode(bytes.readUInt8(at));
    const pathAt = at + HEAD_BYTES;
    const dataAt = pathAt + bytes.readUInt32LE(at + 1);
    const end = dataAt + bytes.readUInt32LE(at + 13);
    if (end > bytes.length) throw torn();
    const offset = Number(bytes.readBigUInt64LE(at + 5));
    const path = bytes.toString('utf8', pathAt, dataAt);
    changes.push({ op, path, offset, data: bytes.subarray(dataAt, end) });
    at = end;
  }
  return changes;
}

/** What a drive writes as a whole. */
const SECTOR_BYTES = 512;

/** Bytes that grow, as a file does: what was never written reads as zero. */
class Content {
  #bytes = Buffer.alloc(0);
  #size = 0;

  write(offset: number, data: Buffer): void {
    const end = offset + data.length;
    if (end > this.#bytes.length) {
      const grown = Buffer.alloc(Math.max(end, this.#bytes.length * 2));
      this.#bytes.copy(grown, 0, 0, this.#size);
      this.#bytes = grown;
    }
    data.copy(this.#bytes, offset);
    this.#size = Math.max(this.#size, end);
  }

  truncate(size: number): void {
    if (size < this.#size) this.#bytes.fill(0, size, this.#size);
    else this.write(size, Buffer.alloc(0));
    this.#size = size;
  }

  copy(): Content {
    const copy = new Content();
    copy.write(0, this.bytes());
    return copy;
  }

  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }
}

interface Inode {
  /** What is certainly on the disk. */
  durable: Content;
  /** Written since the last sync: each may be there, or not, or in part. */
  pending: DiskChange[];
}

type Names = Map<string, Inode>;

/**
 * A disk that keeps only what was synced. Files are found by name only after their folder was synced, or by luck.
 * `honest: false` forgets every sync: the check that uses it has to notice.
 */
export class Disk {
  readonly #draw: Draw;
  readonly #honest: boolean;
  #names: Names = new Map();
  #durableNames: Names = new Map();
  #pendingNames: ((names: Names) => void)[] = [];

  constructor(draw: Draw, honest = true) {
    this.#draw = draw;
    this.#honest = honest;
  }

  apply(change: DiskChange): void {
    const inode = this.#names.get(change.path);
    switch (change.op) {
      case 'W':
      case 'T':
        inode?.pending.push(change);
        return;
      case 'S':
        if (inode === undefined || !this.#honest) return;
        for (const waiting of inode.pending) replay(inode.durable, waiting);
        inode.pending = [];
        return;
      case 'E':
        // The system has dropped the pages, or some of them, and holds them for written: no later sync brings them.
        if (inode === undefined) return;
        this.#keepSome(inode.durable, inode.pending);
        inode.pending = [];
        return;
      case 'D':
        this.#durableNames = new Map(this.#names);
        this.#pendingNames = [];
        return;
      case 'C':
        this.#rename((names, fresh) => names.set(change.path, fresh));
        return;
      case 'U':
        this.#rename((names) => names.delete(change.path));
        return;
      case 'R':
        this.#rename((names) => {
          const moved = names.get(change.path);
          names.delete(change.path);
          if (moved !== undefined) names.set(change.data.toString(), moved);
        });
        return;
      default:
        return;
    }
  }

  /** The files as the machine finds them when it is started again. */
  cut(): Map<string, Buffer> {
    const names = new Map(this.#durableNames);
    const kept = this.#draw(this.#pendingNames.length + 1);
    for (const change of this.#pendingNames.slice(0, kept)) change(names);
    const files = new Map<string, Buffer>();
    for (const [path, { durable, pending }] of names) {
      const content = durable.copy();
      this.#keepSome(content, pending);
      files.set(path, content.bytes());
    }
    return files;
  }

  #rename(change: (names: Names, fresh: Inode) => unknown): void {
    const fresh: Inode = { durable: new Content(), pending: [] };
    const same = (names: Names): void => void change(names, fresh);
    same(this.#names);
    this.#pendingNames.push(same);
  }

  /** All, none, or any of them, in whole or by sectors. */
  #keepSome(content: Content, pending: readonly DiskChange[]): void {
    const mode = this.#draw(4);
    if (mode === 0) return;
    for (const change of pending) {
      if (mode === 1) replay(content, change);
      else if (change.op === 'T' || mode === 2) {
        if (this.#draw(2) === 0) replay(content, change);
      } else this.#keepSectors(content, change);
    }
  }

  #keepSectors(content: Content, { offset, data }: DiskChange): void {
    for (let at = 0; at < data.length; ) {
      const bytes = SECTOR_BYTES - ((offset + at) % SECTOR_BYTES);
      if (this.#draw(2) === 0) content.write(offset + at, data.subarray(at, at + bytes));
      at += bytes;
    }
  }
}

function replay(content: Content, { op, offset, data }: DiskChange): void {
  if (op === 'T') content.truncate(offset);
  else content.write(offset, data);
}

/** Puts the files of a cut disk into one folder. */
export function writeImage(files: ReadonlyMap<string, Buffer>, folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [path, bytes] of files) writeFileSync(join(folder, basename(path)), bytes, { mode: 0o600 });
}
