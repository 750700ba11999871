import type { LedgerEvent } from '#core/events/ledger-event.ts';
import { apply, applyUnjournaled } from '#core/ledger/machine/apply.ts';
import { decide } from '#core/ledger/machine/decide.ts';
import { emptyLedger } from '#core/ledger/machine/empty-ledger.ts';
import { createDraw } from '../ledger/history/random.ts';
import { OPENING } from '../ledger/history/run-histories.ts';
import { drawProfile, drawStep } from '../ledger/history/step.ts';
import { StepWorld } from '../ledger/history/step-world.ts';

/** What the ledger journals in a history of so many steps; the same for the same seed. */
export function drawLedgerEvents(seed: number, steps: number): LedgerEvent[] {
  const draw = createDraw(seed);
  const world = new StepWorld(drawProfile(draw));
  const state = emptyLedger();
  const events: LedgerEvent[] = [];
  let lastMs = 0;
  for (let i = 0; i < steps; i++) {
    const command = world.commandOf(OPENING[i] ?? drawStep(draw), state);
    if (command === null) continue;
    lastMs = Math.max(lastMs, world.nowMs);
    const decision = decide(state, command, lastMs);
    for (const event of decision.events) {
      apply(state, event);
      events.push(event);
    }
    applyUnjournaled(state, decision);
  }
  return events;
}
