import { existsSync } from 'node:fs';
import { cpuRuns } from './bars.ts';
import { benchModels } from './canned-answers.ts';
import { type GatewayUnderTest, gatewayEntry, startGateway } from './gateway.ts';
import { createMoneyCheck } from './money-check.ts';
import { canMeasure } from './process-figures.ts';
import { type Bench, runPart, targetOf } from './run-part.ts';
import { runCpu, runFirstByte, runOpenStreams, type Stand } from './runs.ts';

await runPart('The embedded gateway', { pinned: true }, async (bench) => {
  const stand = await build(bench);
  if (canMeasure) {
    // First, on fresh processes: full load leaves a larger heap behind than 1,000 streams need.
    await runOpenStreams(stand);
    for (const run of cpuRuns) await runCpu(stand, run);
  } else bench.report.line('CPU and memory are measured on Linux only');
  // Last, on processes that have run for a while: a call at low load meets compiled code.
  await runFirstByte(stand, benchModels.atOnce);
  await runFirstByte(stand, benchModels.after50Ms);
});

async function build(bench: Bench): Promise<Stand> {
  const { report, sizes } = bench;
  const provider = await bench.start('canned-provider.ts', [], bench.loadCore);
  const upstream = `http://127.0.0.1:${provider.port}`;
  const bare = await bench.bareProxy('bare', upstream);
  const direct = targetOf('direct', provider, '/api/v1/chat/completions');
  const gateway = bench.self ? null : await gatewayOn(bench, provider.port);
  const underTest = gateway?.target ?? (await bench.bareProxy('bare again', upstream));
  const money = gateway === null ? null : createMoneyCheck(gateway, report);
  return { report, sizes, direct, bare, underTest, gateway, money };
}

async function gatewayOn(bench: Bench, providerPort: number): Promise<GatewayUnderTest> {
  if (!existsSync(gatewayEntry))
    throw new Error('There is no api/main.ts to measure; --self measures the harness');
  const options = { providerPort, core: bench.coreUnderTest };
  // The first start of a checkout also compiles it, which leaves 40 MB behind; every later one finds it compiled.
  await (await startGateway(options)).stop();
  const gateway = await startGateway(options);
  bench.later(gateway.stop);
  return gateway;
}
