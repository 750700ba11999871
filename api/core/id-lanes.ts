/**
 * An id's remainder by this number is its lane. Ids of different lanes differ, so a time that a clock shows twice is not lived
 * through twice in one lane.
 */
export const ID_LANES = 4;

/** Ids of one lane that may have been used, the first and the last of them included. */
export interface IdRun {
  lane: number;
  from: number;
  to: number;
}

/** Each run ends where the clock steps back, or stays quiet for long. */
const RUNS_MAX = 64;

/** The same runs and one more. Where they would be too many, the gap between two of them is given up. */
export function withRun(runs: readonly IdRun[], run: IdRun): readonly IdRun[] {
  const sorted = [...runs, run].sort((a, b) => a.lane - b.lane || a.from - b.from);
  return sorted.length > RUNS_MAX ? withoutSmallestGap(sorted) : sorted;
}

function withoutSmallestGap(runs: readonly IdRun[]): readonly IdRun[] {
  let smallest = Number.POSITIVE_INFINITY;
  let at = 0;
  for (const [index, run] of runs.entries()) {
    const before = runs[index - 1];
    if (before?.lane !== run.lane || run.from - before.to >= smallest) continue;
    smallest = run.from - before.to;
    at = index;
  }
  const [first, second] = [runs[at - 1], runs[at]];
  if (first === undefined || second === undefined) return runs;
  const merged = { ...first, to: Math.max(first.to, second.to) };
  return [...runs.slice(0, at - 1), merged, ...runs.slice(at + 1)];
}

export interface FreeId {
  id: number;
  lane: number;
  /** Ids of the lane from `id` on and below this one were never used. */
  until: number;
}

/**
 * The first unused id from `from` on, which must be a multiple of `ID_LANES`. The given lane is preferred where several
 * lanes are as near.
 */
export function firstFreeId(runs: readonly IdRun[], from: number, preferred: number): FreeId {
  let best = freeIn(runs, from, preferred);
  for (let lane = 0; lane < ID_LANES; lane++) {
    const free = freeIn(runs, from, lane);
    if (free.id - lane < best.id - best.lane) best = free;
  }
  return best;
}

/** The runs of a lane are in order, so one pass finds the first gap. */
function freeIn(runs: readonly IdRun[], from: number, lane: number): FreeId {
  let id = from + lane;
  for (const run of runs) {
    if (run.lane !== lane || run.to < id) continue;
    if (run.from > id) return { id, lane, until: run.from };
    id = run.to + ID_LANES;
  }
  return { id, lane, until: Number.POSITIVE_INFINITY };
}
