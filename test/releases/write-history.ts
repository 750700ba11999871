import type { LedgerEvent } from '#core/events/ledger-event.ts';
import { History } from '../ledger/history/history.ts';
import { createDraw } from '../ledger/history/random.ts';
import { OPENING } from '../ledger/history/run-histories.ts';
import { drawProfile, drawStep } from '../ledger/history/step.ts';

/** What this release writes in a random history of that many steps. */
export function writeHistory(seed: number, steps: number): LedgerEvent[] {
  const draw = createDraw(seed);
  const history = new History(drawProfile(draw), new Map(), false);
  for (let step = 0; step < steps; step++) history.run(OPENING[step] ?? drawStep(draw));
  return history.journal;
}
