import { startBenchCluster } from './bench-cluster.ts';
import { type ClusterStand, runClusterCpu, runGate } from './cluster-runs.ts';
import { startGateway } from './gateway.ts';
import { createMoneyCheck } from './money-check.ts';
import { canMeasure } from './process-figures.ts';
import { runPart, targetOf } from './run-part.ts';

/** Everything but the API process shares the other core: the load, the provider, the stores and the worker. */
await runPart('An API process of a cluster', { pinned: true }, async (bench) => {
  const cluster = await startBenchCluster(bench);
  await cluster.startWorker();
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
  if (canMeasure) await runClusterCpu(bench, cluster.redisUrl, stand);
  else bench.report.line('CPU is measured on Linux only');
  await runGate(bench, stand);
});
