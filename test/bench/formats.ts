import type { FormatName } from '#core/catalog/catalog.ts';
import { formatBars } from './bars.ts';
import type { Target } from './call.ts';
import { benchModels } from './canned-answers.ts';
import { type CpuFigures, callSide, measureCpu, ratiosOf } from './cpu-per-call.ts';
import { type BenchProvider, modelAt, startGateway } from './gateway.ts';
import { createMoneyCheck } from './money-check.ts';
import { medianAndSpread } from './report.ts';
import { type Bench, runPart } from './run-part.ts';
import { cpuLine, reportFailures } from './runs.ts';
import { median } from './statistics.ts';

interface Way {
  name: string;
  format: FormatName;
  provider: BenchProvider;
  /** Of chat by a provider that speaks it. */
  ratioMax: number | null;
}

const ways = (translated: number): readonly Way[] => [
  { name: 'chat', format: 'chat/completions', provider: 'all', ratioMax: null },
  { name: 'responses', format: 'responses', provider: 'all', ratioMax: formatBars.native },
  { name: 'messages', format: 'messages', provider: 'all', ratioMax: formatBars.native },
  { name: 'chat to messages', format: 'chat/completions', provider: 'messages', ratioMax: translated },
  { name: 'messages to chat', format: 'messages', provider: 'chat', ratioMax: translated },
  { name: 'responses to chat', format: 'responses', provider: 'chat', ratioMax: translated },
  { name: 'responses to messages', format: 'responses', provider: 'messages', ratioMax: translated },
];
const assembled: Way = {
  name: 'chat, streamed and put together',
  format: 'chat/completions',
  provider: 'assembled',
  ratioMax: null,
};

await runPart('The three formats', { pinned: true }, async (bench) => {
  const provider = await bench.start('canned-provider.ts', [], bench.loadCore);
  const gateway = await startGateway({ providerPort: provider.port, core: bench.coreUnderTest });
  bench.later(gateway.stop);
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
});

async function compare(
  { report, sizes }: Bench,
  gateway: Target,
  what: string,
  all: readonly Way[],
  run: { model: string; stream: boolean; callers: number },
): Promise<CpuFigures[]> {
  const sides = all.map(({ name, format, provider }) => {
    const target = { ...gateway, name, path: `/v1/${format}` };
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
