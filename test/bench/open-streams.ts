import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import type { FormatName } from '#core/catalog/catalog.ts';
import type { Sizes } from './bars.ts';
import { callBody, startCall, type Target } from './call.ts';
import { SLOW_PACE_MS, STREAM_CHUNKS } from './canned-answers.ts';
import { count, emptyLoad, type LoadResult } from './load.ts';
import { cpuMs, type Memory, memoryOf } from './process-figures.ts';

export interface StreamFigures {
  name: string;
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
const KILLED_AFTER_MS = OPENING_MS + 3_000;
/** Eight times what an undisturbed stream takes: a peer that has half of its core needs four. */
const PATIENCE_MS = OPENING_MS + 8 * SLOW_PACE_MS * STREAM_CHUNKS;

/** One kind of stream; the sides of a run take turns, and are of one process. */
export interface StreamSide {
  target: Target;
  model: string;
  format: FormatName;
}

/** Opens all streams over two seconds, looks at the memory until the last has ended. */
export async function measureOpenStreams(sides: readonly StreamSide[], sizes: Sizes): Promise<StreamFigures> {
  const opened = openStreams(sides, sizes);
  const { figures, pid, pool } = opened;
  while (figures.load.calls < sizes.openStreams) {
    if (opened.elapsedMs() > PATIENCE_MS)
      throw new Error(`${sizes.openStreams - figures.load.calls} streams of ${figures.name} never ended`);
    await opened.step(SAMPLE_MS);
    if (opened.allBegun()) figures.peak = larger(figures.peak, memoryOf(pid));
  }
  figures.load.elapsedMs = opened.elapsedMs();
  figures.cpuMsPerStream = (cpuMs(pid) - opened.cpuBefore) / sizes.openStreams;
  await pool.close();
  return figures;
}

/** The same, but every caller is killed at the same moment, when all streams have been open for a while. */
export async function killOpenStreams(sides: readonly StreamSide[], sizes: Sizes): Promise<StreamFigures> {
  const opened = openStreams(sides, sizes);
  const { figures, pid, pool } = opened;
  while (opened.elapsedMs() < KILLED_AFTER_MS) await opened.step(SAMPLE_MS);
  figures.peak = larger(figures.peak, memoryOf(pid));
  await pool.destroy();
  return figures;
}

function openStreams(sides: readonly StreamSide[], sizes: Sizes) {
  const [one] = sides;
  if (one === undefined) throw new Error('no stream to open');
  const firstTarget = one.target;
  const { pid, origin, name } = firstTarget;
  const pool = new Pool(origin, { allowH2: false });
  const bodies = sides.map(({ model, format }) => callBody(model, true, format));
  const before = memoryOf(pid);
  const load = emptyLoad();
  const figures: StreamFigures = {
    name,
    before,
    peak: before,
    openAtOnce: 0,
    firstByteMs: [],
    cpuMsPerStream: 0,
    load,
  };
  const cpuBefore = cpuMs(pid);
  const startedMs = performance.now();
  const elapsedMs = (): number => performance.now() - startedMs;
  let begun = 0;
  const allBegun = (): boolean => begun === sizes.openStreams;

  /** Begins the next stream once it is due. */
  async function step(restMs: number): Promise<void> {
    const dueMs = (begun * OPENING_MS) / sizes.openStreams;
    const waitMs = allBegun() ? restMs : dueMs - elapsedMs();
    if (waitMs > 0) {
      await pause(waitMs);
      return;
    }
    const side = begun % sides.length;
    const target = sides[side]?.target ?? firstTarget;
    startCall(pool, target, begun, bodies[side] ?? Buffer.alloc(0), (result) => {
      count(load, result);
      figures.firstByteMs.push(result.firstByteMs);
    });
    begun += 1;
    figures.openAtOnce = Math.max(figures.openAtOnce, begun - load.calls);
  }

  return { figures, pid, pool, cpuBefore, elapsedMs, allBegun, step };
}

const larger = (a: Memory, b: Memory): Memory => ({
  rssMb: Math.max(a.rssMb, b.rssMb),
  pssMb: Math.max(a.pssMb, b.pssMb),
});
