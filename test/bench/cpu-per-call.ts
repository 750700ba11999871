import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import type { CpuRun, Sizes } from './bars.ts';
import { callBody, type Target } from './call.ts';
import { type LoadResult, runLoad } from './load.ts';
import { cpuMs, type Memory, memoryOf } from './process-figures.ts';
import { shuffled } from './statistics.ts';

/** A process that is given work. */
export interface CpuSide {
  name: string;
  pid: number;
  /** How long it is given work before it is measured. */
  warmUpMs: number;
  /** What runs on for so long after the last answer, such as a settlement, belongs to its call. */
  settlingMs: number;
  load(durationMs: number): Promise<LoadResult>;
  close(): Promise<void>;
}

export interface CpuFigures {
  name: string;
  cpuMsPerCall: number[];
  callsPerSecond: number[];
  /** Of its core that was busy; below 1 the load could not fill it. */
  busy: number[];
  loads: LoadResult[];
  memory: Memory;
}

export function callSide(
  target: Target,
  { model, stream, callers, format }: Omit<CpuRun, 'ratioMax' | 'what'>,
  sizes: Sizes,
): CpuSide {
  const pool = new Pool(target.origin, { allowH2: false });
  const body = callBody(model, stream, format);
  const atOnce = Math.min(callers, sizes.callersMax);
  return {
    name: target.name,
    pid: target.pid,
    warmUpMs: sizes.warmUpMs,
    settlingMs: SETTLING_MS,
    load: (durationMs) => runLoad(pool, target, body, { callers: atOnce, durationMs }),
    close: () => pool.close(),
  };
}

/** Of a call that was paid. */
export const SETTLING_MS = 300;
const TURN_MS = 200;

/**
 * In each round every side gets one slice, in shuffled order, so that a noisy minute hits all alike. Sides that have nothing to
 * settle take turns within the slice, so that a noisy second does, too: the host's other guests make the same answer half
 * as dear again for seconds on end.
 */
export async function measureCpu(sides: readonly CpuSide[], sizes: Sizes): Promise<CpuFigures[]> {
  const runs = sides.map((side) => ({ side, figures: emptyFigures(side) }));
  const turns = sides.some(({ settlingMs }) => settlingMs > 0) ? 1 : Math.ceil(sizes.sliceMs / TURN_MS);
  for (const { side, figures } of runs) figures.loads.push(await side.load(side.warmUpMs));
  for (let round = 0; round < sizes.rounds; round++) {
    const slices = runs.map((run) => ({ ...run, slice: { usedMs: 0, calls: 0, elapsedMs: 0 } }));
    for (let turn = 0; turn < turns; turn++) {
      for (const { side, figures, slice } of shuffled(slices)) {
        const before = cpuMs(side.pid);
        const load = await side.load(sizes.sliceMs / turns);
        await pause(side.settlingMs);
        slice.usedMs += cpuMs(side.pid) - before;
        slice.calls += load.calls;
        slice.elapsedMs += load.elapsedMs;
        figures.loads.push(load);
      }
    }
    for (const { figures, slice } of slices) {
      figures.cpuMsPerCall.push(slice.usedMs / slice.calls);
      figures.callsPerSecond.push((slice.calls * 1_000) / slice.elapsedMs);
      figures.busy.push(slice.usedMs / slice.elapsedMs);
    }
  }
  for (const { side, figures } of runs) {
    figures.memory = memoryOf(side.pid);
    await side.close();
  }
  return runs.map(({ figures }) => figures);
}

/** Round by round, what this one used of what the other did. */
export const ratiosOf = (figures: CpuFigures, to: CpuFigures): number[] =>
  figures.cpuMsPerCall.map((ms, round) => ms / (to.cpuMsPerCall[round] ?? Number.NaN));

const emptyFigures = ({ name, pid }: CpuSide): CpuFigures => ({
  name,
  cpuMsPerCall: [],
  callsPerSecond: [],
  busy: [],
  loads: [],
  memory: memoryOf(pid),
});
