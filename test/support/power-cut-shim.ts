import { buildShim } from './build-shim.ts';

/** Stands between a process and its disk; `null` where it cannot be compiled. */
export const buildFaultShim = (): string | null => buildShim('fault-shim');

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
