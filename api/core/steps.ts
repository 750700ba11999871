import { systemClock } from './clock.ts';
import { nextTurn } from './wait.ts';

/**
 * Work on a body that may be large, in steps that are each short enough for one turn of the event loop. It yields the name
 * of each step once that is done.
 */
export type Steps<T> = Generator<string, T>;

/**
 * Work that was done at once, or its steps. A generator costs a short call a quarter of a microsecond, and a twentieth at each of its
 * pauses, so what is short is done without one.
 */
export type Work<T> = T | Steps<T>;

export const isSteps = <T>(work: Work<T>): work is Steps<T> =>
  typeof work === 'object' && work !== null && 'next' in work && typeof work.next === 'function';

/** From this length on a body is worked on in turns of its own: a shorter one that is as dear as can be takes one turn of some milliseconds. */
const LARGE_BODY_BYTES = 64 * 1024;
/** Up to this length a body is not worked on in steps at all, where there is a choice. */
export const SHORT_BODY_BYTES = 2 * 1024;

/** For a body whose steps may share a turn. */
export function runAtOnce<T>(work: Work<T>): T {
  if (!isSteps(work)) return work;
  let step = work.next();
  while (step.done !== true) step = work.next();
  return step.value;
}

/** Other calls are served between the steps of a large body. */
export const runSteps = <T>(bodyBytes: number, work: Work<T>): T | Promise<T> =>
  isSteps(work) && bodyBytes >= LARGE_BODY_BYTES ? runInTurns(work) : runAtOnce(work);

/** Steps that are shorter than this together share a turn: the tools of one body alone may take a thousand steps. */
const SHARED_TURN_MS = 1;

async function runInTurns<T>(steps: Steps<T>): Promise<T> {
  let beganAtMs = systemClock.monotonicMs();
  let step = steps.next();
  while (step.done !== true) {
    if (systemClock.monotonicMs() - beganAtMs >= SHARED_TURN_MS) {
      await nextTurn();
      beganAtMs = systemClock.monotonicMs();
    }
    step = steps.next();
  }
  return step.value;
}
