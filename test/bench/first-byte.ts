import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Sizes } from './bars.ts';
import { type CallResult, callBody, startCall, type Target } from './call.ts';
import { count, emptyLoad, type LoadResult } from './load.ts';
import { shuffled } from './statistics.ts';

/** A way to call, and how its provider answers. */
export interface FirstByteSide {
  target: Target;
  model: string;
}

export interface FirstByteFigures extends FirstByteSide {
  firstByteMs: number[];
  load: LoadResult;
}

/**
 * One streamed call at a time, over one warm connection, every side once in each shuffled turn: what one adds is
 * measured against the same turn's direct call.
 */
export async function measureFirstByte(
  sides: readonly FirstByteSide[],
  sizes: Sizes,
): Promise<FirstByteFigures[]> {
  const runs = sides.map((side) => ({
    pool: new Pool(side.target.origin, { allowH2: false, connections: 1 }),
    body: callBody(side.model, true),
    figures: emptyFigures(side),
  }));
  for (let turn = 0; turn < sizes.samples + WARM_UP_TURNS; turn++) {
    for (const { pool, body, figures } of shuffled(runs)) {
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

const emptyFigures = (side: FirstByteSide): FirstByteFigures => ({
  ...side,
  firstByteMs: [],
  load: emptyLoad(),
});
