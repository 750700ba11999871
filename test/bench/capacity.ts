import { createBenchLedger } from './bench-ledger.ts';
import { startCapacityCluster } from './capacity-cluster.ts';
import { shortNumber } from './report.ts';
import { runPart } from './run-part.ts';

const BUSY_AGENTS = 8;

/**
 * What agents and calls take in each store. Held to no bar: the figures are those of charts/faregate/docs/capacity.md,
 * and whoever changes what is kept looks at them again.
 */
await runPart('Capacity', { pinned: false }, async (bench) => {
  const { report, sizes } = bench;
  const { agents, holds, calls } = sizes.capacity;
  const cluster = await startCapacityCluster(bench);
  const ledger = await createBenchLedger(cluster.redisUrl);
  bench.later(() => ledger.close());
  const { redisBytes, kafkaBytes } = cluster;

  const emptyBytes = await redisBytes();
  await ledger.openAgents(agents);
  await cluster.settled();
  const agentBytes = await redisBytes();
  const held = await ledger.hold(holds);
  await cluster.settled();
  const heldBytes = await redisBytes();
  await ledger.settle(held);
  await cluster.settled();

  const before = {
    redis: await redisBytes(),
    kafka: await kafkaBytes(),
    calls: await cluster.projectedCalls(),
  };
  const startedMs = performance.now();
  await ledger.call(calls, agents);
  const seconds = (performance.now() - startedMs) / 1_000;
  await cluster.settled();
  const after = { redis: await redisBytes(), kafka: await kafkaBytes() };
  await ledger.call(calls, BUSY_AGENTS);
  await cluster.settled();
  const busyBytes = await redisBytes();
  await cluster.projected(before.calls + 2 * calls);

  report.line(`Redis, empty but for its 64 shards: ${megabytes(emptyBytes)}`);
  report.line(`Redis, an agent with a key and a lot of credit: ${bytes((agentBytes - emptyBytes) / agents)}`);
  report.line(`Redis, an open call: ${bytes((heldBytes - agentBytes) / holds)}`);
  report.line(`Redis, a call that has ended, for an hour: ${bytes((after.redis - before.redis) / calls)}`);
  report.line(
    `Redis, the same of an agent with ${calls / BUSY_AGENTS} an hour: ${bytes((busyBytes - after.redis) / calls)}`,
  );
  report.line(`Kafka, a call, one copy: ${bytes((after.kafka - before.kafka) / calls)}`);
  const { perTable, rest } = await cluster.cassandraBytes();
  for (const [table, size] of perTable) {
    report.line(`Cassandra, ${table}: ${bytes(size / (2 * calls + holds))} a call, one copy`);
  }
  report.line(`Cassandra, its other tables: ${megabytes(rest)}`);
  report.line(
    `${calls} calls of ${agents} agents in ${seconds.toFixed(0)} s, ${shortNumber(calls / seconds)}/s`,
  );
});

function bytes(count: number): string {
  return `${Math.round(count)} bytes`;
}

function megabytes(count: number): string {
  return `${(count / 1e6).toFixed(1)} MB`;
}
