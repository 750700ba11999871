import { cores } from './bars.ts';
import { startBenchCluster } from './bench-cluster.ts';
import { type ClusterStand, runClusterCpu, runGate, startLedgerSteps } from './cluster-runs.ts';
import { startGateway } from './gateway.ts';
import { createMoneyCheck } from './money-check.ts';
import { canMeasure, pin } from './process-figures.ts';
import { runPart, targetOf } from './run-part.ts';

/**
 * At first everything but the API process shares the other core: the load, the provider, the stores and the worker. They
 * leave it a tenth of a bare proxy's calls to serve; so its CPU is held to the bars where Redis has that core for itself,
 * as a machine of its own, and load and provider are beside whatever is measured, the bare proxy, too.
 */
await runPart('An API process of a cluster', { pinned: true }, async (bench) => {
  const cluster = await startBenchCluster(bench);
  const worker = await cluster.startWorker();
  const provider = await bench.start('canned-provider.ts', [], bench.loadCore);
  const bare = await bench.bareProxy('bare', `http://127.0.0.1:${provider.port}`);
  const direct = targetOf('direct', provider, '/api/v1/chat/completions');
  const gateway = await startGateway({
    providerPort: provider.port,
    core: bench.coreUnderTest,
    stores: cluster.stores,
  });
  bench.later(gateway.stop);
  const money = createMoneyCheck(gateway, bench.report);
  const stand: ClusterStand = { direct, bare, gateway: gateway.target, money };
  await runGate(bench, stand);
  if (!canMeasure) return bench.report.line('CPU is measured on Linux only');
  const steps = await startLedgerSteps(bench, cluster.redisUrl);
  await runClusterCpu(bench, stand, steps, { behind: 'the whole cluster on the other core', isHeld: false });
  await worker.stop();
  await bench.start('stand-in-publisher.ts', ['--redis', cluster.redisUrl], bench.loadCore);
  for (const pid of [process.pid, provider.pid]) pin(pid, cores.underTest);
  await runClusterCpu(bench, stand, steps, { behind: 'Redis alone on the other core', isHeld: true });
});
