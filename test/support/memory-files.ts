import { createHash } from 'node:crypto';
import { type FileName, formatFileName } from '#core/files/file-name.ts';
import type { FileStore, WrittenFile } from '#core/files/file-store.ts';

/** Files in memory, which can be made to fail. */
export interface MemoryFiles extends Pick<FileStore, 'read' | 'write' | 'delete' | 'size'> {
  kept: Map<string, Buffer>;
  down: boolean;
  /** Called with each file that is written, before anybody knows. */
  onWrite: () => Promise<void>;
}

export function createMemoryFiles(): MemoryFiles {
  const kept = new Map<string, Buffer>();
  const files: MemoryFiles = {
    kept,
    down: false,
    onWrite: async () => {},
    async write(name: FileName, chunks: AsyncIterable<Uint8Array>): Promise<WrittenFile> {
      if (files.down) throw new Error('storage is down');
      const parts: Uint8Array[] = [];
      for await (const chunk of chunks) parts.push(chunk);
      const whole = Buffer.concat(parts);
      kept.set(formatFileName(name), whole);
      await files.onWrite();
      return { bytes: whole.length, sha256: createHash('sha256').update(whole).digest('hex') };
    },
    async read(name, bytesMax) {
      if (files.down) throw new Error('storage is down');
      const file = kept.get(formatFileName(name)) ?? null;
      if (file !== null && file.length > bytesMax) throw new Error('too long');
      return file;
    },
    async size(name) {
      if (files.down) throw new Error('storage is down');
      return kept.get(formatFileName(name))?.length ?? null;
    },
    async delete(name) {
      if (files.down) throw new Error('storage is down');
      kept.delete(formatFileName(name));
    },
  };
  return files;
}
