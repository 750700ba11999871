import { z } from 'zod';
import { clusterBars, clusterCpuRun } from './bars.ts';
import type { Target } from './call.ts';
import { benchModels } from './canned-answers.ts';
import {
  type CpuFigures,
  type CpuSide,
  callSide,
  measureCpu,
  ratiosOf,
  SETTLING_MS,
} from './cpu-per-call.ts';
import { addedMs, measureFirstByte } from './first-byte.ts';
import { GATEWAY_FLAGS } from './gateway.ts';
import { emptyLoad } from './load.ts';
import type { MoneyCheck } from './money-check.ts';
import { medianAndSpread, percentiles, shortNumber } from './report.ts';
import type { Bench, Started } from './run-part.ts';
import { cpuLine, reportFailures } from './runs.ts';
import { median, quantile } from './statistics.ts';

export interface ClusterStand {
  direct: Target;
  bare: Target;
  gateway: Target;
  money: MoneyCheck;
}

/** What does nothing but hold and settle, in a process of its own. */
export function startLedgerSteps(bench: Bench, redisUrl: string): Promise<Started> {
  const args = ['--redis', redisUrl];
  return bench.start('ledger-steps.ts', args, bench.coreUnderTest, GATEWAY_FLAGS);
}

/**
 * The whole call, and of it the steps of money alone, in the same rounds. `isHeld`: to the bars, which hold for processes
 * that are busy: what a call costs one that idles is two to three times as much, of the bare proxy, too, because nothing
 * is read, written or sent together with another call's.
 */
export async function runClusterCpu(
  bench: Bench,
  { bare, gateway, money }: ClusterStand,
  { pid, port }: Started,
  { behind, isHeld }: { behind: string; isHeld: boolean },
): Promise<void> {
  const { report, sizes } = bench;
  const { what } = clusterCpuRun;
  const callers = Math.min(clusterCpuRun.callers, sizes.callersMax);
  const steps: CpuSide = {
    name: 'steps',
    pid,
    warmUpMs: sizes.warmUpMs,
    settlingMs: SETTLING_MS,
    async load(durationMs) {
      const body = JSON.stringify({ callers, durationMs });
      const res = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body });
      return { ...emptyLoad(), ...slice.parse(await res.json()) };
    },
    close: async () => undefined,
  };
  const ofCalls = (target: Target) => callSide(target, clusterCpuRun, sizes);
  const sides = [ofCalls(bare), { ...ofCalls(gateway), warmUpMs: sizes.clusterWarmUpMs }, steps];
  await money.begin();
  const [ofBare, ofGateway, ofSteps] = await measureCpu(sides, sizes);
  if (!ofBare || !ofGateway || !ofSteps) return;
  report.heading(
    `CPU per ${what}, ${behind}, ${callers} callers, ${sizes.rounds} rounds of ${sizes.sliceMs} ms`,
  );
  for (const each of [ofBare, ofGateway, ofSteps]) {
    report.line(cpuLine(each));
    reportFailures(report, each.name, each.loads);
  }
  const compare = (part: string, figures: CpuFigures, max: number) => {
    const ratios = ratiosOf(figures, ofBare);
    if (!isHeld) return report.line(`${part}: ratio ${medianAndSpread(ratios)}, held to nothing`);
    report.verdict({
      bar: `cluster: CPU per ${part} <= ${max} x bare`,
      measured: `${medianAndSpread(ratios)} x`,
      met: median(ratios) <= max,
    });
  };
  compare(what, ofGateway, clusterBars.callRatio);
  compare('reserve and settle', ofSteps, clusterBars.stepsRatio);
  const failed = ofSteps.loads.reduce((sum, load) => sum + load.failed, 0);
  report.verdict({ bar: 'cluster: no reserve or settle failed', measured: `${failed}`, met: failed === 0 });
  await money.end(`cluster: ${what}, ${behind}`, ofGateway.loads);
}

const slice = z.object({ calls: z.number(), failed: z.number(), elapsedMs: z.number() });

/**
 * At once: against the bare proxy, so all that a cluster's call adds counts, its hold in Redis, too. After 30 ms: against
 * the same call with its first byte after 100 ms, when the log has long had the hold. Whatever else a call costs is in
 * both, and what is left is the gate's wait.
 */
export async function runGate(bench: Bench, { direct, bare, gateway, money }: ClusterStand): Promise<void> {
  const { report, sizes } = bench;
  const models = [benchModels.atOnce, benchModels.after30Ms, benchModels.after100Ms];
  const targets = [direct, gateway];
  const sides = models.flatMap((model) => targets.map((target) => ({ target, model })));
  await money.begin();
  const all = await measureFirstByte([...sides, { target: bare, model: benchModels.atOnce }], sizes);
  const of = (target: Target, model: string) => {
    const figures = all.find((each) => each.target === target && each.model === model);
    if (figures === undefined) throw new Error(`${target.name} was not measured with ${model}`);
    return figures;
  };
  const addedBy = (target: Target, model: string) => addedMs(of(target, model), of(direct, model));
  report.heading(`Time to first byte, one call at a time, ${sizes.samples} samples, ms`);
  for (const model of models) report.line(`${model} added: ${percentiles(addedBy(gateway, model))}`);
  const whole = addedMs(of(gateway, benchModels.atOnce), of(bare, benchModels.atOnce));
  const late = addedBy(gateway, benchModels.after100Ms);
  const waits = (model: string) => addedBy(gateway, model).map((ms, turn) => ms - (late[turn] ?? Number.NaN));
  report.line(`the gate alone, at once: ${percentiles(waits(benchModels.atOnce))}`);
  const { gateMs, gateHiddenMs } = clusterBars;
  report.verdict({
    bar: `cluster: added to a first byte at once <= ${gateMs.p50} ms p50, ${gateMs.p99} ms p99`,
    measured: `${percentiles(whole)} ms`,
    met: median(whole) <= gateMs.p50 && quantile(whole, 0.99) <= gateMs.p99,
  });
  const left = median(waits(benchModels.after30Ms));
  report.verdict({
    bar: `cluster: the gate adds nothing to a first byte after 30 ms (median within ${gateHiddenMs} ms)`,
    measured: `${shortNumber(left)} ms, ${percentiles(waits(benchModels.after30Ms))}`,
    met: Math.abs(left) <= gateHiddenMs,
  });
  for (const { target, load } of all) reportFailures(report, target.name, [load]);
  await money.end(
    'cluster: first byte',
    all.filter(({ target }) => target === gateway).map(({ load }) => load),
  );
}
