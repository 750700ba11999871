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
    load: (durationMs) => runLoad(pool, target, body, { callers: atOnce, durationMs }),
    close: () => pool.close(),
  };
}

/** What runs on after the last answer, such as a settlement, belongs to its call. */
const SETTLING_MS = 300;

/** In each round every side gets one slice, in shuffled order, so that a noisy minute hits all alike. */
export async function measureCpu(sides: readonly CpuSide[], sizes: Sizes): Promise<CpuFigures[]> {
  const runs = sides.map((side) => ({ side, figures: emptyFigures(side) }));
  for (const { side, figures } of runs) figures.loads.push(await side.load(side.warmUpMs));
  for (let round = 0; round < sizes.rounds; round++) {
    for (const { side, figures } of shuffled(runs)) {
      const before = cpuMs(side.pid);
      const load = await side.load(sizes.sliceMs);
      await pause(SETTLING_MS);
      const used = cpuMs(side.pid) - before;
      figures.loads.push(load);
      figures.cpuMsPerCall.push(used / load.calls);
      figures.callsPerSecond.push((load.calls * 1_000) / load.elapsedMs);
      figures.busy.push(used / load.elapsedMs);
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
