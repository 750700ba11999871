import { median, quantile } from './statistics.ts';

/** One line of the verdict. */
export interface Verdict {
  bar: string;
  measured: string;
  /** `null`: could not be measured here. */
  met: boolean | null;
}

export interface Report {
  heading(text: string): void;
  line(text: string): void;
  verdict(verdict: Verdict): void;
  /** Prints all verdicts. `true` when no bar was missed. */
  close(elapsedMs: number): boolean;
}

export function createReport(): Report {
  const verdicts: Verdict[] = [];
  return {
    heading: (text) => console.log(`\n${text}`),
    line: (text) => console.log(`  ${text}`),
    verdict: (verdict) => verdicts.push(verdict),
    close(elapsedMs) {
      console.log('\nBars');
      for (const { bar, measured, met } of verdicts) {
        console.log(`  ${met === null ? 'not measured' : met ? 'pass' : 'MISS'}  ${bar}: ${measured}`);
      }
      const missed = verdicts.filter(({ met }) => met === false).length;
      console.log(`\n${verdicts.length} bars, ${missed} missed, ${(elapsedMs / 1_000).toFixed(0)} s`);
      return missed === 0;
    },
  };
}

const SIGNIFICANT_DIGITS = 3;

export function shortNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const magnitude = Math.floor(Math.log10(Math.abs(value) || 1));
  return value.toFixed(Math.max(0, SIGNIFICANT_DIGITS - 1 - magnitude));
}

/** The median and what lay around it, so that a noisy machine shows. */
export function medianAndSpread(values: readonly number[]): string {
  return `${shortNumber(median(values))} (${shortNumber(Math.min(...values))} to ${shortNumber(Math.max(...values))})`;
}

export function percentiles(values: readonly number[]): string {
  return `p50 ${shortNumber(median(values))}, p99 ${shortNumber(quantile(values, 0.99))}`;
}
