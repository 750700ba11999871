import { existsSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { cores, cpuRuns, fullSizes, quickSizes } from './bars.ts';
import type { Target } from './call.ts';
import { benchModels } from './canned-answers.ts';
import { type Child, startChild } from './child.ts';
import { type GatewayUnderTest, gatewayEntry, startGateway } from './gateway.ts';
import { createMoneyCheck } from './money-check.ts';
import { canMeasure, pinSelf } from './process-figures.ts';
import { createReport } from './report.ts';
import { runCpu, runFirstByte, runOpenStreams, type Stand } from './runs.ts';

const { values: options } = parseArgs({
  options: {
    /** The bare proxy on both sides: what this machine and this harness call equal. */
    self: { type: 'boolean', default: false },
    /** A run of seconds, to see that everything works. */
    quick: { type: 'boolean', default: false },
  },
});

const startedMs = performance.now();
const sizes = options.quick ? quickSizes : fullSizes;
const report = createReport();
const pinned = cpus().length > 1 && pinSelf(cores.load);
const coreUnderTest = pinned ? cores.underTest : null;
const stops: (() => Promise<void>)[] = [];

report.line(
  `Node ${process.version}, ${cpus().length} cores, ${pinned ? 'pinned' : 'NOT pinned'}, ${machineLoad()}`,
);
let met = false;
try {
  const stand = await build();
  if (canMeasure) {
    // First, on fresh processes: full load leaves a larger heap behind than 1,000 streams need.
    await runOpenStreams(stand);
    for (const run of cpuRuns) await runCpu(stand, run);
  } else report.line('CPU and memory are measured on Linux only');
  // Last, on processes that have run for a while: a call at low load meets compiled code.
  await runFirstByte(stand, benchModels.atOnce);
  await runFirstByte(stand, benchModels.after50Ms);
  report.line(machineLoad());
  met = report.close(performance.now() - startedMs);
} finally {
  for (const stop of stops.reverse()) await stop();
}
process.exitCode = met ? 0 : 1;

async function build(): Promise<Stand> {
  const provider = await started('canned-provider.ts', [], pinned ? cores.load : null);
  const upstream = `http://127.0.0.1:${provider.port}`;
  const bare = await bareProxy('bare', upstream);
  const direct = target('direct', provider, '/api/v1/chat/completions');
  const gateway = options.self ? null : await gatewayOn(provider.port);
  const underTest = gateway?.target ?? (await bareProxy('bare again', upstream));
  const money = gateway === null ? null : createMoneyCheck(gateway, report);
  return { report, sizes, direct, bare, underTest, gateway, money };
}

async function gatewayOn(providerPort: number): Promise<GatewayUnderTest> {
  if (!existsSync(gatewayEntry))
    throw new Error('There is no api/main.ts to measure; --self measures the harness');
  // The first start of a checkout also compiles it, which leaves 40 MB behind; every later one finds it compiled.
  await (await startGateway(providerPort, coreUnderTest)).stop();
  const gateway = await startGateway(providerPort, coreUnderTest);
  stops.push(gateway.stop);
  return gateway;
}

async function bareProxy(name: string, upstream: string): Promise<Target> {
  return target(
    name,
    await started('bare-proxy.ts', ['--upstream', upstream], coreUnderTest),
    '/v1/chat/completions',
  );
}

interface Started {
  child: Child;
  port: number;
}

async function started(file: string, args: string[], core: number | null): Promise<Started> {
  const child = startChild([fileURLToPath(new URL(file, import.meta.url)), ...args], { core });
  stops.push(child.stop);
  return { child, port: JSON.parse(await child.firstLine).port };
}

function target(name: string, { child, port }: Started, path: string): Target {
  const origin = `http://127.0.0.1:${port}`;
  return { name, pid: child.pid, origin, path, authorizations: ['Bearer bench'], showsNanoUsd: false };
}

function machineLoad(): string {
  return `load average ${loadavg()[0]?.toFixed(1)} (another session's work makes figures rough)`;
}
