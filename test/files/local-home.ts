import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type LocalFileStore, openLocalFileStore } from '#core/files/local-file-store.ts';
import { createIdSource } from '#core/ids.ts';
import type { Log, LogFields } from '#core/log.ts';
import type { ServerLimits } from '../../api/http/create-http-server.ts';
import { createPublicServer } from '../../api/http/create-public-server.ts';
import { mountFiles } from '../../api/http/mount-files.ts';
import { mountNotFound } from '../../api/http/mount-not-found.ts';
import { createExpress } from '../../api/http/mount-router.ts';
import { testDataDir } from '../support/data-dir.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import type { FileHome } from './file-home.ts';

export interface LocalHome extends FileHome {
  clock: FakeClock;
  store: LocalFileStore;
  dataDir: string;
  port: number;
  openRequests(): number;
  logged: { event: string; fields: LogFields | undefined }[];
}

/** The local folder behind a real server, on a clock that moves when a test says so. */
export async function startLocalHome(limits: Partial<ServerLimits> = {}): Promise<LocalHome> {
  const folder = await testDataDir();
  const clock = createFakeClock();
  const logged: LocalHome['logged'] = [];
  const note = (event: string, fields?: LogFields) => void logged.push({ event, fields });
  const log: Log = { info: note, warn: note, error: note };
  const open = (dataDir: string) =>
    openLocalFileStore({ dataDir, clock, publicUrl: () => `http://127.0.0.1:${port}/v1` });
  const store = open(folder.path);
  const ids = createIdSource(clock);
  const app = createExpress();
  mountFiles(app, { files: store, clock, log });
  mountNotFound(app, { basePath: '/v1', ids, callIdHeader: 'x-service-call-id', log });
  const server = createPublicServer(app, { ...limits, ids, callIdHeader: 'x-service-call-id' });
  const port = await server.listen(0, '127.0.0.1');
  const others: { path: string; [Symbol.asyncDispose](): PromiseLike<void> }[] = [await testDataDir()];
  return {
    address: `127.0.0.1:${port}`,
    port,
    openRequests: () => server.openRequests(),
    clock,
    dataDir: folder.path,
    logged,
    store,
    nowMs: () => clock.now(),
    async later(ms, make) {
      const made = await make(store, clock.now());
      clock.advance(ms);
      return made;
    },
    withOtherSecret: () => open(others[0]?.path ?? ''),
    async putForeign() {
      const path = join(folder.path, 'files', 'uploads', 'notes');
      await mkdir(path, { recursive: true });
      await writeFile(join(path, '2000'), 'mine');
      return () =>
        stat(join(path, '2000')).then(
          () => true,
          () => false,
        );
    },
    leftovers: () => readdir(join(folder.path, 'files', 'incoming')),
    async [Symbol.asyncDispose]() {
      const drained = server.endDrain();
      server.destroy();
      await drained;
      for (const each of [folder, ...others]) await each[Symbol.asyncDispose]();
    },
  };
}
