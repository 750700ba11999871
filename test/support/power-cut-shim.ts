import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('./fault-shim.c', import.meta.url));
const CACHE = fileURLToPath(new URL('../../.cache/', import.meta.url));

/** The compiled shim, made when it is missing or its source has changed; `null` where that cannot be done. */
export function buildFaultShim(): string | null {
  if (process.platform !== 'linux') return null;
  const version = createHash('sha256').update(readFileSync(SOURCE)).digest('hex').slice(0, 12);
  const path = `${CACHE}fault-shim-${process.arch}-${version}.so`;
  if (existsSync(path)) return path;
  mkdirSync(CACHE, { recursive: true });
  const made = `${path}.${process.pid}`;
  const cc = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', made, SOURCE, '-ldl', '-lpthread'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (cc.error !== undefined) return null;
  if (cc.status !== 0) throw new Error('fault-shim.c does not compile');
  renameSync(made, path);
  return path;
}

/**
 * The shim, or a word to skip by. Tests of the disk are not left out silently: without a compiler they are skipped
 * with a reason, and where every service is required they fail.
 */
export function requireFaultShim(): { shim: string; reason: null } | { shim: null; reason: string } {
  const shim = buildFaultShim();
  if (shim !== null) return { shim, reason: null };
  const reason = 'no C compiler for Linux here: write faults and power cuts are NOT tested';
  if (process.env.REQUIRE_SERVICES === '1') throw new Error(reason);
  console.warn(reason);
  return { shim: null, reason };
}
