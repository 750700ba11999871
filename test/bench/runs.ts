import { bars, type CpuRun, type Sizes } from './bars.ts';
import type { Target } from './call.ts';
import { benchModels } from './canned-answers.ts';
import { type CpuFigures, callSide, measureCpu, ratiosOf } from './cpu-per-call.ts';
import { addedMs, measureFirstByte } from './first-byte.ts';
import type { GatewayUnderTest } from './gateway.ts';
import { type Histogram, histogramMedian, readHistogram, since } from './histogram.ts';
import type { LoadResult } from './load.ts';
import type { MoneyCheck } from './money-check.ts';
import { measureOpenStreams, type StreamFigures } from './open-streams.ts';
import { medianAndSpread, percentiles, type Report, shortNumber } from './report.ts';
import { median, quantile } from './statistics.ts';

/** Everything that runs side by side. */
export interface Stand {
  report: Report;
  sizes: Sizes;
  direct: Target;
  bare: Target;
  underTest: Target;
  /** `null` when the bare proxy stands in for the gateway, which has no money. */
  gateway: GatewayUnderTest | null;
  money: MoneyCheck | null;
}

export async function runCpu({ report, sizes, bare, underTest, money }: Stand, run: CpuRun): Promise<void> {
  const { what, ratioMax } = run;
  await money?.begin();
  const sides = [bare, underTest].map((target) => callSide(target, run, sizes));
  const [ofBare, ofGateway] = await measureCpu(sides, sizes);
  if (ofBare === undefined || ofGateway === undefined) return;
  const callers = Math.min(run.callers, sizes.callersMax);
  report.heading(`CPU per ${what}, ${callers} callers, ${sizes.rounds} rounds of ${sizes.sliceMs} ms`);
  for (const each of [ofBare, ofGateway]) report.line(cpuLine(each));
  const ratios = ratiosOf(ofGateway, ofBare);
  if (ratioMax === null) report.line(`ratio ${medianAndSpread(ratios)}, held to nothing`);
  else {
    report.verdict({
      bar: `CPU per ${what} <= ${ratioMax} x bare`,
      measured: `${medianAndSpread(ratios)} x`,
      met: median(ratios) <= ratioMax,
    });
  }
  for (const each of [ofBare, ofGateway]) reportFailures(report, each.name, each.loads);
  await money?.end(what, ofGateway.loads);
}

export function cpuLine({ name, cpuMsPerCall, callsPerSecond, busy, memory }: CpuFigures): string {
  return (
    `${name.padEnd(10)} ${shortNumber(quantile(cpuMsPerCall, 0.25))} ms a call (low quartile), ` +
    `${median(callsPerSecond).toFixed(0)} calls/s, core ${(100 * median(busy)).toFixed(0)} % busy, ` +
    `PSS after ${memory.pssMb.toFixed(0)} MB`
  );
}

const COMMIT_HISTOGRAM = 'faregate_journal_commit_ms';

export async function runFirstByte(stand: Stand, model: string): Promise<void> {
  const { report, sizes, direct, bare, underTest, gateway, money } = stand;
  const atOnce = model === benchModels.atOnce;
  const what = atOnce ? 'a provider that answers at once' : 'a first byte after 50 ms';
  await money?.begin();
  const commitsBefore = await commits(gateway);
  const sides = [direct, bare, underTest].map((target) => ({ target, model }));
  const [ofDirect, ...others] = await measureFirstByte(sides, sizes);
  const commitsAfter = await commits(gateway);
  report.heading(`Time to first byte with ${what}, one call at a time, ${sizes.samples} samples, ms`);
  if (ofDirect === undefined) return;
  report.line(`${direct.name.padEnd(10)} ${percentiles(ofDirect.firstByteMs)}`);
  for (const each of others)
    report.line(`${each.target.name.padEnd(10)} added: ${percentiles(addedMs(each, ofDirect))}`);
  if (commitsBefore !== null && commitsAfter !== null)
    report.line(commitLine(since(commitsBefore, commitsAfter)));
  const [addedByBare = [], added = []] = others.map((each) => addedMs(each, ofDirect));
  const bar = atOnce ? bars.firstByteAtOnceMs : bars.firstByteAfter50Ms;
  report.verdict({
    bar: `added time to first byte, p50, ${what} <= ${bar} ms`,
    measured: `${shortNumber(median(added))} ms, of which a bare proxy takes ${shortNumber(median(addedByBare))}`,
    met: median(added) <= bar,
  });
  for (const each of [ofDirect, ...others]) reportFailures(report, each.target.name, [each.load]);
  const ofGateway = others.filter(({ target }) => target === underTest);
  await money?.end(
    `first byte, ${what}`,
    ofGateway.map(({ load }) => load),
  );
}

async function commits(gateway: GatewayUnderTest | null): Promise<Histogram | null> {
  return gateway === null ? null : readHistogram(await gateway.metrics(), COMMIT_HISTOGRAM);
}

function commitLine(histogram: Histogram): string {
  const mean = histogram.sum / histogram.count;
  const half = histogramMedian(histogram);
  return `of it the journal's commit: p50 ${shortNumber(half)}, mean ${shortNumber(mean)} (${histogram.count} commits)`;
}

export async function runOpenStreams({ report, sizes, bare, underTest, money }: Stand): Promise<void> {
  await money?.begin();
  report.heading(`${sizes.openStreams} streams at once, 50 events, one per 200 ms`);
  const chat = { model: benchModels.slow, format: 'chat' } as const;
  const ofBare = await measureOpenStreams([{ ...chat, target: bare }], sizes);
  report.line(streamLine(ofBare));
  const ofGateway = await measureOpenStreams([{ ...chat, target: underTest }], sizes);
  report.line(streamLine(ofGateway));
  report.verdict({
    bar: `memory (RSS) at ${sizes.openStreams} open streams <= ${bars.memoryMb} MB`,
    measured: `${ofGateway.peak.rssMb.toFixed(0)} MB, ${ofGateway.openAtOnce} open at once`,
    met: ofGateway.peak.rssMb <= bars.memoryMb && ofGateway.openAtOnce === sizes.openStreams,
  });
  for (const each of [ofBare, ofGateway]) reportFailures(report, each.name, [each.load]);
  await money?.end('open streams', [ofGateway.load]);
}

export function streamLine({
  name,
  before,
  peak,
  openAtOnce,
  firstByteMs,
  cpuMsPerStream,
}: StreamFigures): string {
  return (
    `${name.padEnd(10)} RSS ${before.rssMb.toFixed(0)} -> ${peak.rssMb.toFixed(0)} MB, ` +
    `PSS ${before.pssMb.toFixed(0)} -> ${peak.pssMb.toFixed(0)} MB, ${openAtOnce} open at once, ` +
    `first byte ${percentiles(firstByteMs)} ms, ${shortNumber(cpuMsPerStream)} CPU-ms a stream`
  );
}

export function reportFailures(report: Report, name: string, loads: readonly LoadResult[]): void {
  for (const { failures } of loads) {
    for (const [status, calls] of failures) report.line(`${name}: ${calls} calls failed with ${status}`);
  }
}
