import { type CpuRun, peerRuns } from './bars.ts';
import type { Target } from './call.ts';
import { benchModels } from './canned-answers.ts';
import { callSide, measureCpu, ratiosOf } from './cpu-per-call.ts';
import { deliveredText } from './delivered-text.ts';
import { startGateway } from './gateway.ts';
import { installPortkey } from './install-portkey.ts';
import { createMoneyCheck, type MoneyCheck } from './money-check.ts';
import { measureOpenStreams } from './open-streams.ts';
import { cheaperVerdict, smallerVerdict } from './peer-verdict.ts';
import { canMeasure } from './process-figures.ts';
import { medianAndSpread } from './report.ts';
import { type Bench, runPart, targetOf } from './run-part.ts';
import { cpuLine, reportFailures, streamLine } from './runs.ts';
import { startPortkey } from './start-portkey.ts';

/** The same calls, core and provider for each of the three. */
interface Sides {
  bare: Target;
  gateway: Target;
  portkey: Target;
  money: MoneyCheck;
}

await runPart('Portkey beside the embedded gateway', { pinned: true }, async (bench) => {
  const { report } = bench;
  if (!canMeasure) {
    report.line('CPU and memory are measured on Linux only');
    return;
  }
  const installation = await installPortkey();
  if (installation.kind === 'refused') {
    report.verdict({ bar: 'Portkey beside the gateway', measured: installation.reason, met: null });
    return;
  }
  const sides = await startSides(bench, installation.entry);
  // First, on fresh processes: full load leaves a larger heap behind than 1,000 streams need.
  await compareOpenStreams(bench, sides);
  for (const run of peerRuns) await compareCpu(bench, sides, run);
});

async function startSides(bench: Bench, entry: string): Promise<Sides> {
  const { report, coreUnderTest: core } = bench;
  const provider = await bench.start('canned-provider.ts', [], bench.loadCore);
  const upstream = `http://127.0.0.1:${provider.port}`;
  const bare = await bench.bareProxy('bare', upstream);
  // What is started for the first time also compiles itself, which leaves 40 MB behind.
  await (await startGateway({ providerPort: provider.port, core })).stop();
  await (await startPortkey(entry, { upstream, core })).stop();
  const gateway = await startGateway({ providerPort: provider.port, core });
  bench.later(gateway.stop);
  const portkey = await startPortkey(entry, { upstream, core });
  bench.later(portkey.stop);
  const direct = targetOf('direct', provider, '/api/v1/chat/completions');
  for (const stream of [false, true]) {
    const expected = await deliveredText(direct, benchModels.atOnce, stream);
    for (const side of [bare, gateway.target, portkey.target]) {
      if ((await deliveredText(side, benchModels.atOnce, stream)) !== expected)
        throw new Error(`${side.name} does not deliver what the provider wrote`);
    }
  }
  return { bare, gateway: gateway.target, portkey: portkey.target, money: createMoneyCheck(gateway, report) };
}

async function compareOpenStreams(
  { report, sizes }: Bench,
  { bare, gateway, portkey, money }: Sides,
): Promise<void> {
  const chat = { model: benchModels.slow, format: 'chat' } as const;
  report.heading(`${sizes.openStreams} streams at once, 50 events, one per 200 ms`);
  await money.begin();
  const ofBare = await measureOpenStreams([{ ...chat, target: bare }], sizes);
  const ofGateway = await measureOpenStreams([{ ...chat, target: gateway }], sizes);
  const ofPortkey = await measureOpenStreams([{ ...chat, target: portkey }], sizes);
  for (const each of [ofBare, ofGateway, ofPortkey]) {
    report.line(streamLine(each));
    reportFailures(report, each.name, [each.load]);
  }
  report.verdict(smallerVerdict(sizes.openStreams, ofPortkey, ofGateway));
  await money.end('open streams', [ofGateway.load]);
}

async function compareCpu(
  { report, sizes }: Bench,
  { bare, gateway, portkey, money }: Sides,
  run: Omit<CpuRun, 'ratioMax'>,
): Promise<void> {
  await money.begin();
  const sides = [bare, gateway, portkey].map((target) => callSide(target, run, sizes));
  const [ofBare, ofGateway, ofPortkey] = await measureCpu(sides, sizes);
  if (ofBare === undefined || ofGateway === undefined || ofPortkey === undefined) return;
  const callers = Math.min(run.callers, sizes.callersMax);
  report.heading(`CPU per ${run.what}, ${callers} callers, ${sizes.rounds} rounds of ${sizes.sliceMs} ms`);
  for (const each of [ofBare, ofGateway, ofPortkey]) {
    report.line(cpuLine(each));
    reportFailures(report, each.name, each.loads);
  }
  for (const each of [ofGateway, ofPortkey])
    report.line(`${each.name.padEnd(10)} ${medianAndSpread(ratiosOf(each, ofBare))} x bare`);
  report.verdict(cheaperVerdict(run.what, ofPortkey, ofGateway));
  await money.end(run.what, ofGateway.loads);
}
