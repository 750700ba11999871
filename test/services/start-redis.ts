import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { findCommand, runCommand } from './run-command.ts';
import { type Service, ServiceMissingError } from './service.ts';
import { startProcess } from './start-process.ts';

export interface RedisOptions {
  dir: string;
  detached?: boolean;
  /** A node of a Redis Cluster, which has no slots yet, with the port on which such nodes talk to each other. */
  cluster?: { busPort: number };
  /** Further arguments, such as `--maxmemory`. */
  args?: readonly string[];
  env?: Record<string, string>;
}

/** Every acknowledged write is on the disk, and nothing is ever evicted: as the ledger asks of its Redis. */
export async function startRedis(options: RedisOptions): Promise<Service> {
  const { dir, detached = false, cluster, args = [], env = {} } = options;
  mkdirSync(dir, { recursive: true });
  const command = await redisServer(dir);
  const port = await freePort();
  const clusterArgs =
    cluster === undefined
      ? []
      : [
          ...['--cluster-enabled', 'yes', '--cluster-port', String(cluster.busPort)],
          // Without an announced address a lone node tells its clients an empty one.
          ...['--cluster-announce-ip', '127.0.0.1', '--cluster-node-timeout', '2000'],
        ];
  return startProcess({
    name: 'redis',
    dir,
    port,
    detached,
    command,
    args: [
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--daemonize', 'no', '--save', ''],
      ...['--appendonly', 'yes', '--appendfsync', 'always', '--aof-use-rdb-preamble', 'yes'],
      ...['--loglevel', 'warning', '--maxmemory-policy', 'noeviction'],
      ...clusterArgs,
      ...args,
    ],
    env,
  });
}

/** Debian's redis-tools holds the server, too, under the name of another tool; no system service comes with it. */
const DEBIAN_BINARY = '/usr/bin/redis-check-rdb';

async function redisServer(dir: string): Promise<string> {
  const known = findCommand('redis-server');
  if (known !== null) return known;
  if (!existsSync(DEBIAN_BINARY)) await installRedisTools();
  // It decides by its own name whether it is the server.
  const link = join(dir, 'redis-server');
  if (!existsSync(link)) symlinkSync(DEBIAN_BINARY, link);
  return link;
}

async function installRedisTools(): Promise<void> {
  if (findCommand('apt-get') === null || process.getuid?.() !== 0) {
    throw new ServiceMissingError('Redis needs `redis-server` 7 or newer on the PATH.');
  }
  const quiet = ['-y', '-q', '-o', 'DPkg::Lock::Timeout=120'];
  const install = () =>
    runCommand('apt-get', ['install', ...quiet, '--no-install-recommends', 'redis-tools'], {
      DEBIAN_FRONTEND: 'noninteractive',
    });
  try {
    await install();
  } catch {
    await runCommand('apt-get', ['update', '-q']);
    await install();
  }
}
