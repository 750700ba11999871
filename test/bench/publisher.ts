import { setTimeout as pause } from 'node:timers/promises';
import { openRedis } from '#core/drivers/redis.ts';
import { clusterBars } from './bars.ts';
import { startBenchCluster } from './bench-cluster.ts';
import { Outboxes } from './bench-outboxes.ts';
import { canMeasure, cpuMs, pin } from './process-figures.ts';
import { medianAndSpread } from './report.ts';
import { runPart } from './run-part.ts';
import { median } from './statistics.ts';

const WARM_UP_ROUNDS = 1;
const POLL_MS = 10;

/**
 * The worker has a core of its own, and outboxes that are full already: what fills them would else be what is measured.
 * It is kept from them, meanwhile, as another worker would keep it.
 */
await runPart('Publisher and read-back', { pinned: true }, async (bench) => {
  const { report, sizes } = bench;
  const cluster = await startBenchCluster(bench);
  const worker = await cluster.startWorker();
  if (bench.coreUnderTest !== null) pin(worker.pid, bench.coreUnderTest);
  const redis = await openRedis({ urls: [cluster.redisUrl], cluster: false });
  bench.later(async () => redis.disconnect());
  const outboxes = new Outboxes(redis);
  await outboxes.open();
  const perSecond: number[] = [];
  const cpuUs: number[] = [];
  for (let round = 0; round < sizes.publisherRounds + WARM_UP_ROUNDS; round++) {
    await outboxes.takeFromWorker();
    await outboxes.fill(sizes.publishedCalls);
    const events = await outboxes.waiting();
    const cpuBefore = canMeasure ? cpuMs(worker.pid) : Number.NaN;
    const startedMs = performance.now();
    await outboxes.leaveToWorker();
    while ((await outboxes.waiting()) > 0) await pause(POLL_MS);
    const elapsedMs = performance.now() - startedMs;
    if (round < WARM_UP_ROUNDS) continue;
    perSecond.push((events * 1_000) / elapsedMs);
    if (canMeasure) cpuUs.push(((cpuMs(worker.pid) - cpuBefore) * 1_000) / events);
  }
  report.line(`${medianAndSpread(cpuUs)} us of the worker's CPU an event`);
  report.verdict({
    bar: `publisher and read-back >= ${clusterBars.publishedPerSecond} events/s`,
    measured: `${medianAndSpread(perSecond)} events/s`,
    met: median(perSecond) >= clusterBars.publishedPerSecond,
  });
});
