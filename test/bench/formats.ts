import type { FormatName } from '#core/catalog/catalog.ts';
import { formatUsd } from '#core/money.ts';
import { pathOf } from '../support/path-of.ts';
import { catalogueSizes, formatBars } from './bars.ts';
import type { Target } from './call.ts';
import { benchModels } from './canned-answers.ts';
import { type CpuFigures, callSide, measureCpu, ratiosOf } from './cpu-per-call.ts';
import { type BenchProvider, type GatewayUnderTest, modelAt, startGateway } from './gateway.ts';
import { createMoneyCheck } from './money-check.ts';
import { killOpenStreams, measureOpenStreams } from './open-streams.ts';
import { canMeasure } from './process-figures.ts';
import { medianAndSpread } from './report.ts';
import { type Bench, runPart } from './run-part.ts';
import { cpuLine, reportFailures, streamLine } from './runs.ts';
import { median } from './statistics.ts';

interface Way {
  name: string;
  format: FormatName;
  provider: BenchProvider;
  /** Of chat by a provider that speaks it. */
  ratioMax: number | null;
}

const ways = (translated: number): readonly Way[] => [
  { name: 'chat', format: 'chat', provider: 'all', ratioMax: null },
  { name: 'responses', format: 'responses', provider: 'all', ratioMax: formatBars.native },
  { name: 'messages', format: 'messages', provider: 'all', ratioMax: formatBars.native },
  { name: 'chat to messages', format: 'chat', provider: 'messages', ratioMax: translated },
  { name: 'messages to chat', format: 'messages', provider: 'chat', ratioMax: translated },
  { name: 'responses to chat', format: 'responses', provider: 'chat', ratioMax: translated },
  { name: 'responses to messages', format: 'responses', provider: 'messages', ratioMax: translated },
];
const assembled: Way = {
  name: 'chat, streamed and put together',
  format: 'chat',
  provider: 'assembled',
  ratioMax: null,
};

/** The longest answer is read on to its end, and a price that came in none is asked for. */
const KILLED_SETTLED_MS = 60_000;

await runPart('The three formats', { pinned: true }, async (bench) => {
  const provider = await bench.start('canned-provider.ts', [], bench.loadCore);
  const options = { providerPort: provider.port, core: bench.coreUnderTest };
  // The first start of a checkout also compiles it, which leaves 40 MB behind.
  await (await startGateway(options)).stop();
  const gateway = await startGateway(options);
  bench.later(gateway.stop);
  // First, on a fresh process: full load leaves a larger heap behind than 1,000 streams need.
  if (canMeasure) await openStreams(bench, gateway);
  const money = createMoneyCheck(gateway, bench.report);
  await money.begin();
  const json = await compare(
    bench,
    gateway.target,
    'small JSON call',
    [...ways(formatBars.translatedCall), assembled],
    {
      model: benchModels.atOnce,
      stream: false,
      callers: 64,
    },
  );
  await money.end(
    'small JSON calls',
    json.flatMap(({ loads }) => loads),
  );
  await money.begin();
  const streams = await compare(bench, gateway.target, '50-chunk stream', ways(formatBars.translatedStream), {
    model: benchModels.paced,
    stream: true,
    callers: 128,
  });
  await money.end(
    '50-chunk streams',
    streams.flatMap(({ loads }) => loads),
  );
  await manyModels(bench, provider.port);
});

/** All formats, native and translated, side by side: their memory, and what is left when every caller is killed at once. */
async function openStreams({ report, sizes }: Bench, gateway: GatewayUnderTest): Promise<void> {
  const sides = ways(0).map(({ format, provider }) => ({
    target: { ...gateway.target, path: `/v1${pathOf(format)}` },
    model: modelAt(provider, benchModels.slow),
    format,
  }));
  const money = createMoneyCheck(gateway, report);
  report.heading(`${sizes.openStreams} streams at once over the three formats, 50 events, one per 200 ms`);
  await money.begin();
  const figures = await measureOpenStreams(sides, sizes);
  report.line(streamLine(figures));
  report.verdict({
    bar: `memory (RSS) at ${sizes.openStreams} open streams over the three formats <= ${formatBars.memoryMb} MB`,
    measured: `${figures.peak.rssMb.toFixed(0)} MB, ${figures.openAtOnce} open at once`,
    met: figures.peak.rssMb <= formatBars.memoryMb && figures.openAtOnce === sizes.openStreams,
  });
  reportFailures(report, figures.name, [figures.load]);
  await money.end('open streams', [figures.load]);

  const killed = await killOpenStreams(sides, sizes);
  const { reservedNanoUsd, runningCalls } = await gateway.settledMoney(KILLED_SETTLED_MS);
  report.verdict({
    bar: `no hold left after ${sizes.openStreams} callers were killed at once`,
    measured: `${killed.openAtOnce} killed, $${formatUsd(reservedNanoUsd)} held by ${runningCalls}`,
    met: reservedNanoUsd === 0n && runningCalls === 0 && killed.openAtOnce === sizes.openStreams,
  });
}

/** The same calls to two gateways that differ in the size of their catalogue alone. */
async function manyModels(bench: Bench, providerPort: number): Promise<void> {
  const { report, sizes } = bench;
  const sides = [];
  for (const models of [catalogueSizes.few, catalogueSizes.many]) {
    const gateway = await startGateway({ providerPort, core: bench.coreUnderTest, models });
    bench.later(gateway.stop);
    const target = { ...gateway.target, name: `${models} models` };
    sides.push(callSide(target, { model: benchModels.atOnce, stream: false, callers: 64 }, sizes));
  }
  const [ofFew, ofMany] = await measureCpu(sides, sizes);
  if (ofFew === undefined || ofMany === undefined) return;
  report.heading(`CPU per small JSON call by the size of the catalogue, ${sizes.rounds} rounds`);
  for (const each of [ofFew, ofMany]) report.line(cpuLine(each));
  const ratios = ratiosOf(ofMany, ofFew);
  report.verdict({
    bar: `CPU per small JSON call, ${ofMany.name} <= ${formatBars.manyModels} x ${ofFew.name}`,
    measured: `${medianAndSpread(ratios)} x`,
    met: median(ratios) <= formatBars.manyModels,
  });
  for (const each of [ofFew, ofMany]) reportFailures(report, each.name, each.loads);
}

async function compare(
  { report, sizes }: Bench,
  gateway: Target,
  what: string,
  all: readonly Way[],
  run: { model: string; stream: boolean; callers: number },
): Promise<CpuFigures[]> {
  const sides = all.map(({ name, format, provider }) => {
    const target = { ...gateway, name, path: `/v1${pathOf(format)}` };
    return callSide(target, { ...run, model: modelAt(provider, run.model), format }, sizes);
  });
  const figures = await measureCpu(sides, sizes);
  const [ofChat] = figures;
  if (ofChat === undefined) return [];
  report.heading(`CPU per ${what}, ${sizes.rounds} rounds of ${sizes.sliceMs} ms`);
  for (const [index, of] of figures.entries()) {
    report.line(cpuLine(of));
    const ratios = ratiosOf(of, ofChat);
    const ratioMax = all[index]?.ratioMax ?? null;
    if (ratioMax === null) report.line(`ratio ${medianAndSpread(ratios)}, held to nothing`);
    else {
      report.verdict({
        bar: `CPU per ${what}, ${of.name} <= ${ratioMax} x chat`,
        measured: `${medianAndSpread(ratios)} x`,
        met: median(ratios) <= ratioMax,
      });
    }
    reportFailures(report, of.name, of.loads);
  }
  return figures;
}
