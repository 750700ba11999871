import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '#core/clock.ts';
import { openClusterLedger } from '#core/ledger/cluster/open-cluster-ledger.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import type { AgentView, Ledger } from '#core/ledger/ledger.ts';
import { migrateStores } from '../../api/admin/migrate-stores.ts';
import { loadConfig } from '../../api/config/config.ts';
import { toRedisAddress } from '../../api/config/store-options.ts';
import { type Agent, prepareAgents } from '../bench/prepare-agents.ts';
import { freePort } from '../services/free-port.ts';
import { type ClusterStores, startClusterStores } from '../support/cluster-stores.ts';
import { testDataDir } from '../support/data-dir.ts';
import { until } from '../support/gateway.ts';
import { type NodeProcess, startNodeProcess } from '../support/node-process.ts';
import { PATIENT_API } from '../support/patience.ts';
import { startTestProvider, type TestProvider } from '../support/provider.ts';
import { startWorkerProcess } from '../support/worker-process.ts';
import type { Endpoint } from './balancer.ts';

export interface ApiPod extends Endpoint {
  process: NodeProcess;
  output: string;
}

/** Real stores, one worker, and API processes that come and go. */
export interface DrainCluster extends AsyncDisposable {
  provider: TestProvider;
  worker: NodeProcess;
  startApi(name: string, server?: string): Promise<ApiPod>;
  newAgents(api: ApiPod, count: number): Promise<Agent[]>;
  view(agent: Agent): Promise<AgentView>;
}

const START_MS = 60_000;

export async function startDrainCluster(): Promise<DrainCluster> {
  const stops: (() => unknown)[] = [];
  const stop = async () => {
    for (const each of stops.splice(0).toReversed()) await each();
  };
  try {
    return await start(stops, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(stops: (() => unknown)[], stop: () => Promise<void>): Promise<DrainCluster> {
  const dir = await testDataDir();
  stops.push(() => dir[Symbol.asyncDispose]());
  const folder = dir.path;
  const stores: ClusterStores = await startClusterStores(folder, { migrated: true });
  stops.push(() => stores.stop());
  const provider = await startTestProvider();
  stops.push(() => provider.close());
  const configFile = await configure('');
  const { storage } = await loadConfig({ FAREGATE_CONFIG: configFile, FAREGATE_DATA: folder });
  if (storage.mode !== 'cluster') throw new Error('no cluster');
  await migrateStores(storage, systemClock);
  const worker = await startWorkerProcess({ configFile, folder, roles: ['settlement', 'projector'] });
  stops.push(() => worker.stop());
  const log = { info() {}, warn() {}, error() {} };
  const address = toRedisAddress(storage.redis);
  const opened = await openClusterLedger({
    ...{ address, shards: SHARDS, clock: systemClock, log, allowUnsafe: true },
  });
  stops.push(() => opened.close());
  const ledger: Ledger = opened.ledger;
  await until(() => opened.ledger.stats().openShards === SHARDS, START_MS);

  async function configure(server: string): Promise<string> {
    const file = join(folder, `faregate${server.replaceAll(/\W+/g, '-')}.yaml`);
    await writeFile(
      file,
      `${stores.yaml}
server: { host: 127.0.0.1${server} }
limits: { callsPerMinute: 60000, burst: 10000, runningCalls: 1000 }
capacity: { dailySharePerAgentUsd: null, eventLoopLagMs: 60000 }
providers: [{ id: sim, kind: simulator, baseUrl: "${provider.baseUrl}" }]
`,
    );
    return file;
  }

  return {
    provider,
    worker,
    async startApi(name, server = '') {
      const port = await freePort();
      const output = join(folder, `${name}.log`);
      const process = await startNodeProcess({
        command: ['--max-semi-space-size=32', PATIENT_API],
        internalPort: await freePort(),
        output,
        env: { FAREGATE_CONFIG: await configure(server), FAREGATE_DATA: folder, PORT: String(port) },
        ready: true,
      });
      stops.push(() => process.stop('SIGKILL'));
      return { name, port, internalUrl: process.internalUrl, process, output };
    },
    newAgents: ({ internalUrl }, count) =>
      prepareAgents({ url: `${internalUrl}/admin`, token: stores.adminToken }, count),
    async view({ agentId }) {
      const view = await ledger.readAgent(agentId);
      if (view === null || view === 'unavailable') throw new Error(`agent ${agentId}: ${view}`);
      return view;
    },
    [Symbol.asyncDispose]: stop,
  };
}
