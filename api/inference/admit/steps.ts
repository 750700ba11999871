import { nextTurn } from '#core/wait.ts';

/**
 * Work on a body that may be large, in steps that are each short enough for one turn of the event loop. It yields the name
 * of each step once that is done.
 */
export type Steps<T> = Generator<string, T>;

/** From this length on a body is worked on in turns of its own. */
export const LARGE_BODY_BYTES = 256 * 1024;

/** For a small body, whose steps together are shorter than the wait for a turn. */
export function runAtOnce<T>(steps: Steps<T>): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/** Each step in a turn of its own, so that other calls are served in between. */
export async function runInTurns<T>(steps: Steps<T>): Promise<T> {
  let step = steps.next();
  while (step.done !== true) {
    await nextTurn();
    step = steps.next();
  }
  return step.value;
}
