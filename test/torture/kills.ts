import { type KillSummary, runKillRounds } from '../ledger/kill-rounds.ts';

/** Kills on one folder before a new one: what was told is compared whole after each. */
const KILLS_PER_FOLDER = 10;

/**
 * Kills a process with a loaded ledger `kills` times at random moments and compares after each. Rejects, with the
 * seed, at the first broken promise.
 */
export async function tortureKills(kills: number, seed: number): Promise<KillSummary> {
  const total: KillSummary = {
    kills: 0,
    killsAtStart: 0,
    told: 0,
    charges: 0,
    crashedCalls: 0,
    problems: [],
  };
  while (total.kills < kills) {
    const share = Math.min(KILLS_PER_FOLDER, kills - total.kills);
    const summary = await runKillRounds(share, seed + total.kills);
    if (summary.problems.length > 0) throw new Error(summary.problems.join('\n'));
    total.kills += summary.kills;
    total.killsAtStart += summary.killsAtStart;
    total.told += summary.told;
    total.charges += summary.charges;
    total.crashedCalls += summary.crashedCalls;
  }
  return total;
}
