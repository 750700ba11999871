import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Sizes } from './bars.ts';
import { callBody, startCall, type Target } from './call.ts';
import { benchModels, SLOW_PACE_MS, STREAM_CHUNKS } from './canned-answers.ts';
import { count, emptyLoad, type LoadResult } from './load.ts';
import { cpuMs, type Memory, memoryOf } from './process-figures.ts';

export interface StreamFigures {
  target: Target;
  before: Memory;
  peak: Memory;
  /** How many were open at the same moment. */
  openAtOnce: number;
  firstByteMs: number[];
  cpuMsPerStream: number;
  load: LoadResult;
}

const OPENING_MS = 2_000;
const SAMPLE_MS = 500;
/** Four times what an undisturbed stream takes. */
const PATIENCE_MS = OPENING_MS + 4 * SLOW_PACE_MS * STREAM_CHUNKS;

/** Opens all streams over two seconds, looks at the memory until the last has ended. */
export async function measureOpenStreams(target: Target, sizes: Sizes): Promise<StreamFigures> {
  const pool = new Pool(target.origin, { allowH2: false });
  const body = callBody(benchModels.slow, true);
  const before = memoryOf(target.pid);
  const cpuBefore = cpuMs(target.pid);
  const load = emptyLoad();
  const figures: StreamFigures = {
    target,
    before,
    peak: before,
    openAtOnce: 0,
    firstByteMs: [],
    cpuMsPerStream: 0,
    load,
  };
  const startedMs = performance.now();
  let begun = 0;
  while (load.calls < sizes.openStreams) {
    const dueMs = (begun * OPENING_MS) / sizes.openStreams;
    const elapsedMs = performance.now() - startedMs;
    if (elapsedMs > PATIENCE_MS) throw new Error(`${sizes.openStreams - load.calls} streams never ended`);
    if (begun < sizes.openStreams && elapsedMs >= dueMs) {
      startCall(pool, target, begun, body, (result) => {
        count(load, result);
        figures.firstByteMs.push(result.firstByteMs);
      });
      begun += 1;
      figures.openAtOnce = Math.max(figures.openAtOnce, begun - load.calls);
      continue;
    }
    const waitMs = begun < sizes.openStreams ? dueMs - elapsedMs : SAMPLE_MS;
    await pause(waitMs);
    if (begun === sizes.openStreams) figures.peak = larger(figures.peak, memoryOf(target.pid));
  }
  load.elapsedMs = performance.now() - startedMs;
  figures.cpuMsPerStream = (cpuMs(target.pid) - cpuBefore) / sizes.openStreams;
  await pool.close();
  return figures;
}

const larger = (a: Memory, b: Memory): Memory => ({
  rssMb: Math.max(a.rssMb, b.rssMb),
  pssMb: Math.max(a.pssMb, b.pssMb),
});
