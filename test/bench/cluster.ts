import { startBenchCluster } from './bench-cluster.ts';
import { type ClusterStand, runClusterCpu, runGate, startLedgerSteps } from './cluster-runs.ts';
import { startGateway } from './gateway.ts';
import { createMoneyCheck } from './money-check.ts';
import { canMeasure } from './process-figures.ts';
import { runPart, targetOf } from './run-part.ts';

/**
 * Everything but the API process shares the other core: the load, the provider, the stores and the worker. With all of
 * them there it has a tenth of a bare proxy's calls to serve; so its CPU is held to the bars without broker and worker.
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
  await runClusterCpu(bench, stand, steps, { behind: 'Redis and the load on the other core', isHeld: true });
});
