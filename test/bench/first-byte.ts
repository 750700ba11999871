import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Sizes } from './bars.ts';
import { type CallResult, callBody, startCall, type Target } from './call.ts';
import { count, emptyLoad, type LoadResult } from './load.ts';
import { shuffled } from './statistics.ts';

export interface FirstByteFigures {
  target: Target;
  firstByteMs: number[];
  load: LoadResult;
}

/**
 * One streamed call at a time, over one warm connection, every target once in each shuffled turn. The first of
 * `targets` is the provider itself: what the others add is measured against the same turn's direct call.
 */
export async function measureFirstByte(
  targets: readonly Target[],
  model: string,
  sizes: Sizes,
): Promise<FirstByteFigures[]> {
  const body = callBody(model, true);
  const runs = targets.map((target) => ({
    pool: new Pool(target.origin, { allowH2: false, connections: 1 }),
    figures: emptyFigures(target),
  }));
  for (let turn = 0; turn < sizes.samples + WARM_UP_TURNS; turn++) {
    for (const { pool, figures } of shuffled(runs)) {
      const result = await new Promise<CallResult>((resolve) =>
        startCall(pool, figures.target, turn, body, resolve),
      );
      count(figures.load, result);
      if (turn >= WARM_UP_TURNS) figures.firstByteMs.push(result.firstByteMs);
      await pause(sizes.sampleGapMs);
    }
  }
  for (const { pool } of runs) await pool.close();
  return runs.map(({ figures }) => figures);
}

const WARM_UP_TURNS = 10;

/** Turn by turn, what this target took longer than the direct call. */
export const addedMs = (figures: FirstByteFigures, direct: FirstByteFigures): number[] =>
  figures.firstByteMs.map((ms, turn) => ms - (direct.firstByteMs[turn] ?? Number.NaN));

const emptyFigures = (target: Target): FirstByteFigures => ({ target, firstByteMs: [], load: emptyLoad() });
