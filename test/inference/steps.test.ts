import { describe, expect, it } from 'vitest';
import { runSteps, type Steps } from '#core/steps.ts';

/* The steps of a large body let other calls in between, and do not wait for a turn of the event loop more often than that needs. */

const LARGE = 1024 * 1024;
const STEPS = 1_000;

function* stepsOf(count: number, work: () => void): Steps<string> {
  for (let step = 0; step < count; step++) {
    work();
    yield 'step';
  }
  return 'done';
}

/** Takes longer than steps may take together in one turn. */
function takeLong(): void {
  const endsAtMs = performance.now() + 2;
  while (performance.now() < endsAtMs);
}

/** Counts the turns of the event loop that others get while the work runs. */
async function turnsDuring(work: () => Promise<unknown> | unknown): Promise<number> {
  let turns = 0;
  let isOver = false;
  const take = (): void => {
    turns++;
    if (!isOver) setImmediate(take);
  };
  setImmediate(take);
  await work();
  isOver = true;
  return turns;
}

describe('the steps of a large body', () => {
  it('let other calls have a turn after each long one', async () => {
    expect(await turnsDuring(() => runSteps(LARGE, stepsOf(5, takeLong)))).toBeGreaterThanOrEqual(5);
  });

  it.each([
    [64, 5],
    [63, 0],
  ])('take turns of their own in a body of %i KB: at least %i', async (kilobytes, least) => {
    const turns = await turnsDuring(() => runSteps(kilobytes * 1024, stepsOf(5, takeLong)));
    expect(turns > 1).toBe(least > 1);
    expect(turns).toBeGreaterThanOrEqual(least);
  });

  it('share turns where they are short', async () => {
    const turns = await turnsDuring(() =>
      runSteps(
        LARGE,
        stepsOf(STEPS, () => undefined),
      ),
    );
    expect(turns).toBeLessThan(STEPS / 2);
  });

  it('end with the result of the work', async () => {
    expect(await runSteps(LARGE, stepsOf(3, takeLong))).toBe('done');
    expect(
      await runSteps(
        1,
        stepsOf(3, () => undefined),
      ),
    ).toBe('done');
  });
});
