import type { Clock } from '#core/clock.ts';
import { type LocalFileStore, openLocalFileStore } from '#core/files/local-file-store.ts';
import { createS3FileStore, type S3FileStore } from '#core/files/s3-file-store.ts';
import type { Config } from '../config/config.ts';

export type Files = LocalFileStore | S3FileStore;

/** Where the configuration says that files are kept. After the store, which locks the data folder. */
export function openFiles(
  { files, storage }: Pick<Config, 'files' | 'storage'>,
  { clock, publicUrl }: { clock: Clock; publicUrl: () => string },
): Files | null {
  switch (files.kind) {
    case 'none':
      return null;
    case 'local':
      return openLocalFileStore({ dataDir: storage.dataDir, publicUrl, clock });
    case 's3':
      return createS3FileStore(files, clock);
    default:
      return files satisfies never;
  }
}
