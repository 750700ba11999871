import { Cluster } from 'ioredis';
import { openRedis } from '#core/drivers/redis.ts';
import { freePort } from '../services/free-port.ts';
import type { Service } from '../services/service.ts';
import { startRedis } from '../services/start-redis.ts';
import { connectTo } from './connect-to.ts';
import { testDataDir } from './data-dir.ts';
import { until } from './gateway.ts';
import { PATIENT_MS } from './patience.ts';

const NODES = 3;
const SLOTS = 16_384;

/** Three nodes of a Redis Cluster with a third of the slots each. */
export async function startRedisCluster(): Promise<{ client: Cluster; urls: string[] } & AsyncDisposable> {
  const folder = await testDataDir();
  const nodes: (Service & { busPort: number })[] = [];
  for (let i = 0; i < NODES; i++) {
    const busPort = await freePort();
    const node = await startRedis({ dir: `${folder.path}/${i}`, cluster: { busPort } });
    nodes.push({ ...node, busPort });
  }
  const clients = await Promise.all(nodes.map((service) => connectTo(service, PATIENT_MS)));
  for (const [i, client] of clients.entries()) {
    const first = Math.ceil((i * SLOTS) / NODES);
    const last = Math.ceil(((i + 1) * SLOTS) / NODES) - 1;
    await client.cluster('ADDSLOTSRANGE', first, last);
    // Node ids meet by the port of the cluster's bus.
    for (const other of nodes)
      await client.call('CLUSTER', 'MEET', '127.0.0.1', String(other.port), String(other.busPort));
  }
  await until(async () => {
    const infos = await Promise.all(clients.map((client) => client.cluster('INFO')));
    return infos.every(
      (info) => info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${NODES}`),
    );
  }, 30_000);
  const urls = nodes.map(({ address }) => `redis://${address}`);
  const client = await openRedis({ urls, cluster: true, timeoutMs: PATIENT_MS });
  if (!(client instanceof Cluster)) throw new Error('several urls are a cluster');
  return {
    client,
    urls,
    async [Symbol.asyncDispose]() {
      client.disconnect();
      for (const one of clients) one.disconnect();
      for (const node of nodes) await node.stop('SIGKILL');
      await folder[Symbol.asyncDispose]();
    },
  };
}
