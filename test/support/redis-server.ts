import type { Redis } from 'ioredis';
import { afterAll, beforeAll } from 'vitest';
import type { Service } from '../services/service.ts';
import { startRedis } from '../services/start-redis.ts';
import { connectTo } from './connect-to.ts';
import { testDataDir } from './data-dir.ts';

export interface TestRedis {
  service: Service;
  client: Redis;
  /** The same data under the same address, in a new process. */
  restart(): Promise<void>;
}

/**
 * Starts a Redis before the tests of one group, and ends it after them.
 *
 * @param timeoutMs See `connectTo`.
 */
export function useRedis(args: readonly string[] = [], timeoutMs?: number): TestRedis {
  const server = {} as TestRedis;
  let folder: Awaited<ReturnType<typeof testDataDir>>;
  beforeAll(async () => {
    folder = await testDataDir();
    server.service = await startRedis({ dir: folder.path, args });
    server.client = await connectTo(server.service, timeoutMs);
    server.restart = async () => {
      await server.service.stop('SIGKILL');
      server.service = await server.service.restart();
      server.client.disconnect();
      server.client = await connectTo(server.service, timeoutMs);
    };
  });
  afterAll(async () => {
    server.client.disconnect();
    await server.service.stop('SIGKILL');
    await folder[Symbol.asyncDispose]();
  });
  return server;
}
