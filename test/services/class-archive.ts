import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Service } from './service.ts';
import { inServicesCache } from './services-cache.ts';

/**
 * The JVM's flag that loads a service's classes from an archive made at its first start: a second less at every
 * later one. `start` is given the flag that writes the archive, and a folder of its own.
 */
export async function classArchiveFlag(
  name: 'kafka' | 'cassandra',
  start: (flag: string, dir: string) => Promise<Service>,
): Promise<string> {
  const archive = inServicesCache(`${name}.jsa`);
  if (!existsSync(archive)) {
    const dir = mkdtempSync(inServicesCache(`${name}-first-`));
    try {
      const made = join(dir, 'classes.jsa');
      const service = await start(`-XX:ArchiveClassesAtExit=${made}`, dir);
      await service.stop();
      if (existsSync(made)) renameSync(made, archive);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  }
  return `-XX:SharedArchiveFile=${archive}`;
}

/** For a start in a second and a small heap, not for the highest throughput. */
export const jvmFlags = [
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-XX:-UsePerfData',
  '-Xshare:auto',
  '-Xlog:disable',
  '-Xlog:all=error:stderr',
] as const;
