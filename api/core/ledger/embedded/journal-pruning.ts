import { dayOf, dayText } from '../../calls/day-number.ts';
import { type Clock, DAY_MS, MINUTE_MS, type Timer } from '../../clock.ts';
import { firstIdAt } from '../../ids.ts';
import { CALLS_KEPT_MS, LOG_KEPT_MS, VIDEO_JOB_KEPT_MS } from '../../limits.ts';
import type { Journal, PruneBounds } from './journal.ts';

/** The pause between two transactions that drop old rows. */
export const PRUNE_PAUSE_MS = 100;

const USAGE_AGENTS_PER_SLICE = 200;

export interface PruningOptions {
  clock: Clock;
  journal: Pick<Journal, 'prune'>;
  agentIds(): Iterable<number>;
  onFailed(error: unknown): void;
}

/**
 * Once a day, and a minute after each start: drops the journal's rows that are older than the log is kept and
 * contained in the snapshots, calls and usage older than calls are kept, and videos that ended longer ago than they are. In small transactions with pauses, so
 * that commits go on in between.
 */
export function startPruning(options: PruningOptions): { stop(): void } {
  const { clock } = options;
  let timer: Timer | null = null;
  let stopped = false;
  const later = (delayMs: number, next: () => void) => {
    if (!stopped) timer = clock.setTimer(delayMs, next);
  };
  const daily = () => {
    const slices = pruneSlices(options);
    const step = async (bounds: PruneBounds | undefined): Promise<void> => {
      if (bounds === undefined) return later(DAY_MS, daily);
      const dropped = await options.journal.prune(bounds);
      // Rows of the journal, calls and videos go a bounded number at a time; usage goes agent by agent.
      const next = dropped > 0 && bounds.kind !== 'usage' ? bounds : slices.next().value;
      later(PRUNE_PAUSE_MS, () => run(next ?? undefined));
    };
    const run = (bounds: PruneBounds | undefined) => void step(bounds).catch(options.onFailed);
    run(slices.next().value ?? undefined);
  };
  later(MINUTE_MS, daily);
  return {
    stop() {
      stopped = true;
      timer?.cancel();
    },
  };
}

function* pruneSlices({ clock, agentIds }: PruningOptions): Generator<PruneBounds, undefined> {
  const nowMs = clock.now();
  yield { kind: 'journal', beforeMs: nowMs - LOG_KEPT_MS };
  const keptFromMs = nowMs - CALLS_KEPT_MS;
  yield { kind: 'calls', beforeCallId: firstIdAt(keptFromMs) };
  yield { kind: 'videos', endedBeforeMs: nowMs - VIDEO_JOB_KEPT_MS };
  const beforeDay = dayText(dayOf(keptFromMs));
  const all = [...agentIds()];
  for (let i = 0; i < all.length; i += USAGE_AGENTS_PER_SLICE) {
    yield { kind: 'usage', beforeDay, agentIds: all.slice(i, i + USAGE_AGENTS_PER_SLICE) };
  }
}
