import { systemClock } from './clock.ts';
import { nextTurn } from './wait.ts';

/**
 * Work on a body that may be large, in steps that are each short enough for one turn of the event loop. It yields the name
 * of each step once that is done.
 */
export type Steps<T> = Generator<string, T>;

/** From this length on a body is worked on in turns of its own: a shorter one that is as dear as can be takes one turn of some milliseconds. */
const LARGE_BODY_BYTES = 64 * 1024;

/** For a body whose steps may share a turn. */
export function runAtOnce<T>(steps: Steps<T>): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/** Other calls are served between the steps of a large body. */
export const runSteps = <T>(bodyBytes: number, steps: Steps<T>): T | Promise<T> =>
  bodyBytes < LARGE_BODY_BYTES ? runAtOnce(steps) : runInTurns(steps);

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
