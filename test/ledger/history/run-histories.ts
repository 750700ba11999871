import type { Coverage } from './coverage.ts';
import { History, show } from './history.ts';
import { createDraw } from './random.ts';
import { drawProfile, drawStep, type Profile, type Step } from './step.ts';

const STEPS_PER_HISTORY = 40;
/** One history in so many is checked thoroughly: decisions against a copy, events and snapshots through JSON. */
const THOROUGH_EVERY = 32;

const key = {
  label: 0,
  hash: 'own',
  limitUnits: null,
  reset: 'daily',
  acting: null,
  overMcp: false,
} as const;

/** Active agents with a key and some credit, so that a history does not spend its steps on getting there. */
export const OPENING: readonly Step[] = [
  { do: 'set_agent', agent: 1, mode: 'upsert', source: 0, ahead: 1, status: 'active' },
  { do: 'put_key', agent: 1, key: 1, ...key },
  { do: 'put_key', agent: 1, key: 2, ...key, limitUnits: 50 },
  { do: 'grant', agent: 1, pick: 1, days: 3, units: 50, crooked: false },
  { do: 'set_agent', agent: 2, mode: 'upsert', source: 0, ahead: 1, status: 'active' },
  { do: 'put_key', agent: 2, key: 1, ...key },
];

/** Runs histories `seed`, `seed + 1`, …; throws at the first broken promise, with the seed and the fewest steps. */
export function runHistories(seed: number, count: number, coverage: Coverage): void {
  for (let one = seed; one < seed + count; one++) runHistory(one, coverage);
}

export function runHistory(seed: number, coverage: Coverage): void {
  const draw = createDraw(seed);
  const profile = drawProfile(draw);
  const history = new History(profile, coverage, seed % THOROUGH_EVERY === 0);
  const steps: Step[] = [];
  try {
    for (let i = 0; i < STEPS_PER_HISTORY; i++) {
      const step = OPENING[i] ?? drawStep(draw);
      steps.push(step);
      history.run(step);
    }
    history.finish();
  } catch (cause) {
    throw new Error(describeFailure(seed, profile, steps), { cause });
  }
}

/** Only the error, if the steps still break something. */
export function runSteps(profile: Profile, steps: readonly Step[]): Error | null {
  const history = new History(profile, new Map(), true);
  try {
    for (const step of steps) history.run(step);
    history.finish();
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function describeFailure(seed: number, profile: Profile, steps: readonly Step[]): string {
  const fewest = shrink(profile, steps);
  const error = runSteps(profile, fewest);
  return [
    `history ${seed} breaks a promise (runHistory(${seed}, new Map()) replays it): ${error?.message ?? ''}`,
    show(profile),
    ...fewest.map(show),
  ].join('\n');
}

/** Takes out every step without which the history still fails. */
function shrink(profile: Profile, steps: readonly Step[]): readonly Step[] {
  let fewest = steps;
  for (let i = steps.length - 1; i >= 0; i--) {
    const without = fewest.toSpliced(i, 1);
    if (runSteps(profile, without) !== null) fewest = without;
  }
  return fewest;
}
