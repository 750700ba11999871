import { ablations } from './ablations.ts';
import { runHistory, runRealHistory } from './run-history.ts';
import { addHistory, emptySummary, type Summary } from './summary.ts';

/** A piece of work for one thread. */
export type Job =
  | { kind: 'rough'; first: number; count: number }
  | { kind: 'real'; seed: number; calls: number }
  /** Without one rule, until a history fails. */
  | { kind: 'ablation'; rule: string; seedsMax: number };

export async function runJob(job: Job): Promise<Summary> {
  const summary = emptySummary();
  switch (job.kind) {
    case 'rough':
      for (let i = 0; i < job.count; i++) addHistory(summary, await runHistory(job.first + i));
      break;
    case 'real':
      addHistory(summary, await runRealHistory(job.seed, job.calls));
      break;
    case 'ablation':
      for (let seed = 1; seed <= job.seedsMax && summary.violations.length === 0; seed++) {
        addHistory(summary, await runHistory(seed, ablations[job.rule]));
      }
      break;
    default:
      job satisfies never;
  }
  return summary;
}
