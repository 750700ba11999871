import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import type { CpuRun, Sizes } from './bars.ts';
import { callBody, type Target } from './call.ts';
import { type LoadResult, runLoad } from './load.ts';
import { cpuMs, type Memory, memoryOf } from './process-figures.ts';
import { shuffled } from './statistics.ts';

export interface CpuFigures {
  target: Target;
  cpuMsPerCall: number[];
  callsPerSecond: number[];
  /** Of its core that was busy; below 1 the load could not fill it. */
  busy: number[];
  loads: LoadResult[];
  memory: Memory;
}

/** What runs on after the last answer, such as a settlement, belongs to its call. */
const SETTLING_MS = 300;

/** In each round every target gets one slice, in shuffled order, so that a noisy minute hits all alike. */
export async function measureCpu(
  targets: readonly Target[],
  { model, stream, callers: wanted }: CpuRun,
  sizes: Sizes,
): Promise<CpuFigures[]> {
  const body = callBody(model, stream);
  const callers = Math.min(wanted, sizes.callersMax);
  const runs = targets.map((target) => ({
    pool: new Pool(target.origin, { allowH2: false }),
    figures: emptyFigures(target),
  }));
  for (const { pool, figures } of runs) {
    figures.loads.push(await runLoad(pool, figures.target, body, { callers, durationMs: sizes.warmUpMs }));
  }
  for (let round = 0; round < sizes.rounds; round++) {
    for (const { pool, figures } of shuffled(runs)) {
      const { target } = figures;
      const before = cpuMs(target.pid);
      const load = await runLoad(pool, target, body, { callers, durationMs: sizes.sliceMs });
      await pause(SETTLING_MS);
      const used = cpuMs(target.pid) - before;
      figures.loads.push(load);
      figures.cpuMsPerCall.push(used / load.calls);
      figures.callsPerSecond.push((load.calls * 1_000) / load.elapsedMs);
      figures.busy.push(used / load.elapsedMs);
    }
  }
  for (const { pool, figures } of runs) {
    figures.memory = memoryOf(figures.target.pid);
    await pool.close();
  }
  return runs.map(({ figures }) => figures);
}

const emptyFigures = (target: Target): CpuFigures => ({
  target,
  cpuMsPerCall: [],
  callsPerSecond: [],
  busy: [],
  loads: [],
  memory: memoryOf(target.pid),
});
