import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Pepper } from '#core/accounts/api-key.ts';
import { readPepper, writePepper } from '#core/accounts/pepper-file.ts';
import { readArchive } from '#core/backup/read-archive.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import type { AgentView } from '#core/ledger/ledger.ts';
import { type ClusterStores, startClusterStores } from '../support/cluster-stores.ts';
import { hello, MODEL, startTestGateway, type TestAgent, until } from '../support/gateway.ts';
import { startTestProvider, type TestProvider } from '../support/provider.ts';
import { describeWith } from '../support/with-services.ts';
import { startWorkerProcess } from '../support/worker-process.ts';
import { ALL_DAYS } from './moment.ts';
import { runFaregate } from './run-cli.ts';

/** The versions of keys are not in a snapshot: the agent's own stands for them afterwards. */
const withoutVersions = (view: AgentView) => ({
  ...view,
  keys: view.keys.map(({ version: _, ...key }) => key),
});

describeWith(['redis', 'kafka', 'cassandra'], 'an embedded gateway becomes a cluster', () => {
  const folder = mkdtempSync(join(tmpdir(), 'faregate-become-'));
  const file = join(folder, 'backup');
  const config = join(folder, 'cluster.yaml');
  let stores: ClusterStores;
  let provider: TestProvider;
  beforeAll(async () => {
    stores = await startClusterStores(folder);
    provider = await startTestProvider();
  });
  afterAll(async () => {
    await provider.close();
    await stores.stop();
    rmSync(folder, { recursive: true });
  });

  const onCluster = (...args: string[]) =>
    runFaregate(args, { dataDir: join(folder, 'cli'), env: { FAREGATE_CONFIG: config } });
  const linesOf = (archive: string) => gunzipSync(readFileSync(archive)).toString().split('\n');
  /** Each with its calls, in the order of their ids. */
  const agentLines = (archive: string) =>
    linesOf(archive)
      .filter((line) => line.startsWith('{"agent"'))
      .sort();
  const callLines = (archive: string) =>
    linesOf(archive)
      .filter((line) => line.startsWith('{"call"'))
      .sort();

  /** Its configuration, with what keys are hashed with. */
  function writeConfig({ id, secret }: Pepper): void {
    writeFileSync(join(folder, 'pepper'), secret.export().toString('base64'));
    writeFileSync(config, stores.yaml.replace('keyPepper: { id: t,', `keyPepper: { id: ${id},`));
  }

  test('with its agents, keys, credit and calls, and back', async () => {
    const agents: TestAgent[] = [];
    let pepper: Pepper | null = null;
    const before = new Map<number, object>();
    {
      await using gateway = await startTestGateway({ provider });
      agents.push(gateway.agent, await gateway.newAgent({ creditUsd: '2' }), await gateway.newAgent());
      for (let i = 0; i < 30; i++) {
        const agent = agents[i % agents.length] ?? gateway.agent;
        expect((await gateway.post(hello(), { agent })).status).toBe(200);
      }
      const { history } = gateway.running.deps.store;
      for (const agent of agents) {
        const { agentId } = agent;
        const view = await gateway.settled(agent);
        const usage = await history.usage({ agentId, ...ALL_DAYS });
        before.set(agentId, { view: withoutVersions(view), calls: await gateway.calls(agent), usage });
      }
      pepper = readPepper(gateway.dataDir);
      const backup = await runFaregate(['backup', file], { dataDir: gateway.dataDir });
      expect(backup).toMatchObject({ code: 0, err: '' });
    }
    if (pepper === null) throw new Error('no pepper');

    writeFileSync(config, stores.yaml);
    const early = await onCluster('restore', file);
    expect(early).toMatchObject({ code: 3, out: '' });
    expect(early.err).toContain('faregate migrate has not been run');
    expect(await onCluster('migrate')).toMatchObject({ code: 0 });
    const lacking = await onCluster('restore', file);
    expect(lacking).toMatchObject({ code: 1, out: '' });
    expect(lacking.err).toContain(
      `Write storage.keyPepper, or storage.previousKeyPepper, with id: ${pepper.id}`,
    );
    writeConfig(pepper);
    const unasked = await onCluster('restore', file);
    expect(unasked).toMatchObject({ code: 2, out: '' });
    expect(unasked.err).toContain('It cannot be taken back. Nobody is there to ask: add --yes.');
    expect(await onCluster('restore', file, '--yes')).toMatchObject({ code: 0, err: '' });
    const second = await onCluster('restore', file, '--yes');
    expect(second).toMatchObject({ code: 1, out: '' });
    expect(second.err).toContain('has been restored into this cluster before');

    const worker = await startWorkerProcess({
      configFile: config,
      folder,
      roles: ['settlement', 'projector'],
    });
    try {
      await until(async () => (await worker.metric('faregate_shards_published')) === SHARDS, 60_000);
      expect((await onCluster('restore', file, '--yes')).err).toContain(
        'A worker, or another restore, is at shard',
      );
      const still = join(folder, 'still');
      expect(await onCluster('backup', still)).toMatchObject({ code: 0, err: '' });
      expect(agentLines(still)).toEqual(agentLines(file));
      expect(callLines(still)).toEqual(callLines(file));

      const yaml = `${readFileSync(config, 'utf8')}
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers:
  - { id: sim, kind: simulator, baseUrl: PROVIDER_URL }
`;
      await using cluster = await startTestGateway({ provider, yaml });
      const { history, audit } = cluster.running.deps.store;
      const restores = await audit.list({ limit: 10, action: 'restore' });
      const results = restores === 'unavailable' ? restores : restores.map(({ ended }) => ended?.result);
      expect(results).toEqual(['failed', 'failed', 'ok']);
      for (const agent of agents) {
        const { agentId } = agent;
        const view = await cluster.view(agent);
        const usage = await history.usage({ agentId, ...ALL_DAYS });
        const calls = await cluster.calls(agent);
        expect({ view: withoutVersions(view), calls, usage }).toEqual(before.get(agentId));
      }

      let running = true;
      const serving = Promise.all(
        agents.map(async (agent) => {
          let served = 0;
          while (running) if ((await cluster.post(hello(), { agent })).status === 200) served++;
          return served;
        }),
      );
      const moving = join(folder, 'moving');
      expect(await onCluster('backup', moving)).toMatchObject({ code: 0, err: '' });
      running = false;
      for (const served of await serving) expect(served).toBeGreaterThan(0);

      const dataDir = join(folder, 'data');
      expect((await runFaregate(['restore', moving], { dataDir })).err).toContain('pepper.json');
      writePepper(dataDir, pepper);
      expect(await runFaregate(['restore', moving], { dataDir })).toMatchObject({ code: 0, err: '' });
      const back = join(folder, 'back');
      expect(await runFaregate(['backup', back], { dataDir })).toMatchObject({ code: 0, err: '' });
      expect(agentLines(back)).toEqual(agentLines(moving));
      expect(callLines(back)).toEqual(callLines(moving));
      const charges = new Map<number, bigint>();
      await readArchive(back, {
        onAgent: ({ agentId, chargedNanoUsd }) => void charges.set(agentId, chargedNanoUsd),
        onCall({ agentId, chargedNanoUsd }) {
          charges.set(agentId, (charges.get(agentId) ?? 0n) - chargedNanoUsd);
        },
        onVideo() {},
      });
      expect(charges.size).toBe(agents.length + 1);
      for (const [agentId, difference] of charges) expect([agentId, difference]).toEqual([agentId, 0n]);
      await using restored = await startTestGateway({ provider, dataDir });
      for (const agent of agents) {
        expect((await restored.post(hello({ model: MODEL }), { agent })).status).toBe(200);
      }
    } finally {
      await worker.stop();
    }
  });
});
