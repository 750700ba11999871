import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const CACHE = fileURLToPath(new URL('../../.cache/', import.meta.url));

/**
 * One of the C files here, compiled to be preloaded; made when it is missing or its source has changed. `null` where
 * that cannot be done.
 */
export function buildShim(name: 'fault-shim' | 'clock-shim'): string | null {
  if (process.platform !== 'linux') return null;
  const source = fileURLToPath(new URL(`./${name}.c`, import.meta.url));
  const version = createHash('sha256').update(readFileSync(source)).digest('hex').slice(0, 12);
  const path = `${CACHE}${name}-${process.arch}-${version}.so`;
  if (existsSync(path)) return path;
  mkdirSync(CACHE, { recursive: true });
  const made = `${path}.${process.pid}`;
  const cc = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', made, source, '-ldl', '-lpthread'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (cc.error !== undefined) return null;
  if (cc.status !== 0) throw new Error(`${name}.c does not compile`);
  renameSync(made, path);
  return path;
}
