import type { Losses } from './final-checks.ts';
import type { History } from './run-history.ts';

/** What some histories came to. Plain, so that a thread can hand it over. */
export interface Summary {
  histories: number;
  steps: number;
  coverage: Map<string, number>;
  losses: Losses;
  violations: BrokenSeed[];
}

export interface BrokenSeed {
  seed: number;
  rule: string;
  facts: string;
}

export const emptySummary = (): Summary => ({
  histories: 0,
  steps: 0,
  coverage: new Map(),
  losses: new Map(),
  violations: [],
});

export function addHistory(to: Summary, { seed, violation, coverage, losses, steps }: History): void {
  to.histories++;
  to.steps += steps;
  addTo(to, { coverage, losses });
  if (violation !== null) {
    to.violations.push({ seed, rule: violation.rule, facts: showFacts(violation.facts) });
  }
}

export function addSummary(to: Summary, from: Summary): void {
  to.histories += from.histories;
  to.steps += from.steps;
  addTo(to, from);
  to.violations.push(...from.violations);
}

function addTo(
  to: Summary,
  { coverage, losses }: { coverage: ReadonlyMap<string, number>; losses: ReadonlyMap<string, bigint> },
): void {
  for (const [what, count] of coverage) to.coverage.set(what, (to.coverage.get(what) ?? 0) + count);
  for (const [cause, nanoUsd] of losses) to.losses.set(cause, (to.losses.get(cause) ?? 0n) + nanoUsd);
}

export const showFacts = (facts: unknown): string =>
  JSON.stringify(facts, (_, value) => (typeof value === 'bigint' ? String(value) : value), 1);
