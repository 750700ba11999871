import fc from 'fast-check';
import { History, show } from './history.ts';
import { OPENING } from './run-histories.ts';
import { DRAWS_PER_STEP, drawProfile, drawStep, type Step } from './step.ts';

const STEPS_MAX = 60;

/** The model is the oracle inside `History`, which compares every answer. */
class StepCommand implements fc.Command<object, History> {
  readonly #step: Step;

  constructor(step: Step) {
    this.#step = step;
  }

  check(): boolean {
    return true;
  }

  run(_model: object, history: History): void {
    history.run(this.#step);
  }

  toString(): string {
    return show(this.#step);
  }
}

/** Draws from a list of numbers, so that smaller numbers make simpler steps and fast-check knows how to shrink. */
const drawn = <T>(draws: number, make: (draw: (below: number) => number) => T): fc.Arbitrary<T> =>
  fc.array(fc.nat(0xffff), { minLength: draws, maxLength: draws }).map((words) => {
    let next = 0;
    return make((below) => (words[next++ % words.length] ?? 0) % below);
  });

/** Throws with fast-check's seed, its path, and the fewest steps that break a promise. */
export function runModelHistories(count: number): void {
  const steps = fc.commands([drawn(DRAWS_PER_STEP, drawStep).map((step) => new StepCommand(step))], {
    maxCommands: STEPS_MAX,
    size: 'max',
  });
  const property = fc.property(drawn(8, drawProfile), steps, (profile, commands) => {
    const history = new History(profile, new Map(), true);
    for (const step of OPENING) history.run(step);
    fc.modelRun(() => ({ model: {}, real: history }), commands);
    history.finish();
  });
  fc.assert(property, { numRuns: count });
}
