import { expect, test } from 'vitest';
import { ablations } from './ablations.ts';
import { missing } from './coverage.ts';
import type { Job } from './run-job.ts';
import { roughJobs, runJobs } from './run-jobs.ts';
import { addSummary, emptySummary } from './summary.ts';

test('no fault of six hundred histories of a whole cluster breaks a promise, and together they saw every fault', async () => {
  const sum = emptySummary();
  for (const summary of await runJobs(roughJobs(2_001, 600))) addSummary(sum, summary);
  expect(sum.violations).toEqual([]);
  expect(sum.histories).toBe(600);
  expect(missing(sum.coverage)).toEqual([]);
});

test('a history fails without any of the rules', async () => {
  const rules = Object.keys(ablations).filter((rule) => ablations[rule]?.rare === undefined);
  const jobs = rules.map((rule): Job => ({ kind: 'ablation', rule, seedsMax: 150 }));
  const summaries = await runJobs(jobs);
  expect(rules.filter((_, i) => summaries[i]?.violations.length === 0)).toEqual([]);
});
