import { ablations } from './ablations.ts';
import { missing } from './coverage.ts';
import { lossRows, report, table } from './report.ts';
import { runHistory } from './run-history.ts';
import type { Job } from './run-job.ts';
import { roughJobs, runJobs } from './run-jobs.ts';
import { addSummary, emptySummary, type Summary, showFacts } from './summary.ts';

/*
 * `make sim`: 20,000 histories full of faults, or SEEDS=n of them; 96,000 calls at fault rates as operators know them;
 * and each rule of the protocol taken away, until a history fails. `make sim SEED=n` runs one history, with TRACE=1
 * every event of it is printed. Ends with 1 when a promise was broken, when something that has to occur did not, or
 * when a rule was not missed.
 */
const { SEED = '', SEEDS = '', TRACE = '' } = process.env;
const COVERED_FROM = 2_000;
const REAL_HISTORIES = 12;
const REAL_CALLS = 8_000;
const ABLATION_SEEDS_MAX = 1_000;

process.exitCode = (await (SEED === '' ? runAll() : runOne(Number(SEED)))) ? 0 : 1;

async function runOne(seed: number): Promise<boolean> {
  const trace = TRACE === '' ? {} : { trace: (line: string) => console.log(line) };
  const { violation, steps } = await runHistory(seed, trace);
  console.log(violation === null ? `seed ${seed}: ${steps} steps, every promise kept` : showFacts(violation));
  return violation === null;
}

async function runAll(): Promise<boolean> {
  const count = SEEDS === '' ? 20_000 : Number(SEEDS);
  const startedAtMs = performance.now();
  const rough = sumOf(await runJobs(roughJobs(1, count)));
  console.log(report(rough, performance.now() - startedAtMs));
  for (const { seed, rule, facts } of rough.violations.slice(0, 3)) {
    console.log(`\nseed ${seed} breaks ${rule}: make sim SEED=${seed} TRACE=1\n${facts}`);
  }
  const unseen = count < COVERED_FROM ? [] : missing(rough.coverage);
  if (unseen.length > 0) console.log(`\nnever occurred: ${unseen.join(', ')}`);
  const isReal = await runReal();
  const areMissed = await runAblations();
  return rough.violations.length + unseen.length === 0 && isReal && areMissed;
}

async function runReal(): Promise<boolean> {
  const jobs = Array.from({ length: REAL_HISTORIES }, (_, i): Job => {
    return { kind: 'real', seed: i + 1, calls: REAL_CALLS };
  });
  const { coverage, losses, violations } = sumOf(await runJobs(jobs));
  const calls = coverage.get('call') ?? 0;
  const rows: [string, string][] = [
    ['calls', `${calls}, one fault in ${REAL_CALLS}`],
    ...lossRows(losses),
    ['violations', `${violations.length}`],
  ];
  console.log(`\nat the fault rates of every day\n${table(rows)}`);
  for (const { seed, rule, facts } of violations) console.log(`history ${seed} breaks ${rule}: ${facts}`);
  return violations.length === 0;
}

async function runAblations(): Promise<boolean> {
  const rules = Object.keys(ablations);
  const jobs = rules.map((rule): Job => ({ kind: 'ablation', rule, seedsMax: ABLATION_SEEDS_MAX }));
  const summaries = await runJobs(jobs);
  const rows = rules.map((rule, i): [string, string] => {
    const { histories = 0, violations: [first] = [] } = summaries[i] ?? {};
    return [rule, first === undefined ? 'NOT MISSED' : `missed at seed ${histories}: ${first.rule}`];
  });
  console.log(`\nwithout a rule\n${table(rows)}`);
  return summaries.every(({ violations }) => violations.length > 0);
}

function sumOf(summaries: readonly Summary[]): Summary {
  const sum = emptySummary();
  for (const summary of summaries) addSummary(sum, summary);
  return sum;
}
