import { resolve } from 'node:path';
import { pathOf } from '../support/path-of.ts';
import { beforeRatioMax, type CpuRun, clusterCpuRun, cores, cpuRuns } from './bars.ts';
import { startBenchCluster } from './bench-cluster.ts';
import type { Target } from './call.ts';
import { benchModels } from './canned-answers.ts';
import { callSide, measureCpu, ratiosOf } from './cpu-per-call.ts';
import { addedMs, measureFirstByte } from './first-byte.ts';
import { type GatewayOptions, type GatewayUnderTest, modelAt, startGateway } from './gateway.ts';
import { createMoneyCheck } from './money-check.ts';
import { pin } from './process-figures.ts';
import { medianAndSpread, percentiles } from './report.ts';
import { type Bench, runPart, targetOf } from './run-part.ts';
import { cpuLine, reportFailures } from './runs.ts';
import { median } from './statistics.ts';

/*
 * Compares this tree's gateway with that of another tree (`BEFORE`, a checkout with its packages installed): embedded, and as the
 * API process of a cluster. Both run on one core, and their slices of work alternate within each round.
 */

/** The same call to both trees. */
interface Pair {
  before: GatewayUnderTest;
  after: GatewayUnderTest;
}

const small = { model: benchModels.atOnce, stream: false, callers: 64, ratioMax: null };
/** What an operator meets who changes no default, and the translations. */
const moreRuns: readonly CpuRun[] = [
  { ...small, what: 'small JSON call, streamed and put together', model: modelAt('assembled', small.model) },
  { ...small, what: 'small JSON call, chat to messages', model: modelAt('messages', small.model) },
  { ...small, what: 'small JSON call, responses', format: 'responses' },
  {
    ...small,
    what: 'small JSON call, messages to chat',
    model: modelAt('chat', small.model),
    format: 'messages',
  },
];
/** The code of the calls before it is warm. */
const LATER_WARM_UP_SHARE = 0.25;

await runPart('This tree and the one before', { pinned: true }, async (bench) => {
  const tree = process.env.BEFORE;
  if (tree === undefined || tree === '') throw new Error('BEFORE names no tree to compare with');
  const provider = await bench.start('canned-provider.ts', [], bench.loadCore);
  const options = { providerPort: provider.port, core: bench.coreUnderTest };
  const root = resolve(tree);
  const embedded = await startPair(bench, options, root, true);
  for (const [index, run] of [...cpuRuns, ...moreRuns].entries())
    await compare(bench, embedded, run, index === 0 ? 1 : LATER_WARM_UP_SHARE);
  await compareFirstByte(bench, embedded, targetOf('direct', provider, '/api/v1/chat/completions'));

  const cluster = await startBenchCluster(bench);
  // A worker opens the shards. Then acknowledgements in its place leave the other core to Redis.
  await (await cluster.startWorker()).stop();
  await bench.start('stand-in-publisher.ts', ['--redis', cluster.redisUrl], bench.loadCore);
  const inCluster = await startPair(bench, { ...options, stores: cluster.stores }, root, false);
  for (const pid of [process.pid, provider.pid]) pin(pid, cores.underTest);
  await compare(bench, inCluster, { ...clusterCpuRun, what: `${clusterCpuRun.what} in a cluster` }, 1);
});

async function startPair(
  bench: Bench,
  options: GatewayOptions,
  root: string,
  isFirstStart: boolean,
): Promise<Pair> {
  const start = async (more: Partial<GatewayOptions>): Promise<GatewayUnderTest> => {
    // The first start of a checkout also compiles it, which leaves 40 MB behind.
    if (isFirstStart) await (await startGateway({ ...options, ...more })).stop();
    const gateway = await startGateway({ ...options, ...more });
    bench.later(gateway.stop);
    return gateway;
  };
  return { before: await start({ root }), after: await start({}) };
}

async function compare(
  { report, sizes }: Bench,
  { before, after }: Pair,
  run: Omit<CpuRun, 'ratioMax'>,
  warmUpShare: number,
): Promise<void> {
  const gateways = [
    { name: 'before', gateway: before, money: createMoneyCheck(before, report) },
    { name: 'after', gateway: after, money: createMoneyCheck(after, report) },
  ];
  for (const { money } of gateways) await money.begin();
  const sides = gateways.map(({ name, gateway: { target } }) => {
    const path = `/v1${pathOf(run.format ?? 'chat')}`;
    return { ...callSide({ ...target, name, path }, run, sizes), warmUpMs: sizes.warmUpMs * warmUpShare };
  });
  const [ofBefore, ofAfter] = await measureCpu(sides, sizes);
  if (ofBefore === undefined || ofAfter === undefined) return;
  report.heading(`CPU per ${run.what}, ${sizes.rounds} rounds of ${sizes.sliceMs} ms`);
  const ratios = ratiosOf(ofAfter, ofBefore);
  report.verdict({
    bar: `CPU per ${run.what} <= ${beforeRatioMax} x before`,
    measured: `${medianAndSpread(ratios)} x`,
    met: median(ratios) <= beforeRatioMax,
  });
  for (const [index, figures] of [ofBefore, ofAfter].entries()) {
    report.line(cpuLine(figures));
    reportFailures(report, figures.name, figures.loads);
    await gateways[index]?.money.end(`${run.what}, ${figures.name}`, figures.loads);
  }
}

/** Printed and held to nothing: the disk's commit is most of it, and differs more between two runs than the trees do. */
async function compareFirstByte({ report, sizes }: Bench, pair: Pair, direct: Target): Promise<void> {
  const sides = [direct, pair.before.target, pair.after.target].map((target) => ({
    target,
    model: benchModels.atOnce,
  }));
  const [ofDirect, ofBefore, ofAfter] = await measureFirstByte(sides, sizes);
  if (ofDirect === undefined || ofBefore === undefined || ofAfter === undefined) return;
  report.heading(`Time to first byte, one call at a time, ${sizes.samples} samples, ms added`);
  report.line(`before     ${percentiles(addedMs(ofBefore, ofDirect))}`);
  report.line(`after      ${percentiles(addedMs(ofAfter, ofDirect))}`);
}
