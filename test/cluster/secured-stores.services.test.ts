import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectKafka } from '#core/drivers/kafka.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import { prepareAgents } from '../bench/prepare-agents.ts';
import { freePort } from '../services/free-port.ts';
import { testDataDir } from '../support/data-dir.ts';
import { until } from '../support/gateway.ts';
import { type NodeProcess, startNodeProcess } from '../support/node-process.ts';
import { type SecuredStores, startSecuredStores } from '../support/secured-stores.ts';
import { describeWith } from '../support/with-services.ts';

describeWith(['redis', 'kafka', 'cassandra'], 'a cluster whose stores want TLS and passwords', () => {
  let folder: Awaited<ReturnType<typeof testDataDir>>;
  let stores: SecuredStores;
  let env: Record<string, string>;
  const processes: NodeProcess[] = [];
  beforeAll(async () => {
    folder = await testDataDir();
    stores = await startSecuredStores(folder.path);
    const configFile = join(folder.path, 'faregate.yaml');
    await writeFile(configFile, stores.yaml);
    env = { FAREGATE_CONFIG: configFile, FAREGATE_DATA: folder.path, NODE_EXTRA_CA_CERTS: stores.caFile };
  });
  afterAll(async () => {
    for (const process of processes) await process.stop();
    await stores?.stop();
    await folder[Symbol.asyncDispose]();
  });

  const start = async (command: readonly string[], more: Record<string, string> = {}) => {
    const internalPort = await freePort();
    const output = join(folder.path, `${internalPort}.log`);
    const process = await startNodeProcess({
      command,
      internalPort,
      output,
      env: { ...env, ...more },
      ready: true,
    });
    processes.push(process);
    return process;
  };

  const migrate = (more: Record<string, string> = {}) =>
    new Promise<{ code: number; err: string }>((resolve) => {
      const options = { env: { ...process.env, ...env, ...more } };
      execFile(process.execPath, ['api/admin/cli.ts', 'migrate'], options, (error, _out, err) =>
        resolve({ code: error === null ? 0 : Number(error.code), err }),
      );
    });

  test('gets no word from a process that does not trust their certificate, which says so', async () => {
    const refused = await migrate({ NODE_EXTRA_CA_CERTS: '' });
    expect(refused.code).not.toBe(0);
    expect(refused.err).toMatch(/self.signed certificate/);
    expect(refused.err).not.toContain('node_modules');
  });

  test.each(['plain', 'scram-sha-256', 'scram-sha-512'] as const)(
    'is reached with %s, and not with another password',
    async (mechanism) => {
      const ca = await readFile(stores.caFile, 'utf8');
      const ask = async (password: string) => {
        const { kafkaAddress, username } = stores;
        const sasl = { mechanism, username, password };
        const admin = connectKafka({
          brokers: [kafkaAddress],
          clientId: 'test',
          tls: { ca },
          sasl,
        }).admin();
        try {
          await admin.connect();
          return await admin.listTopics();
        } finally {
          await admin.disconnect();
        }
      };
      expect(await ask(stores.password)).toBeInstanceOf(Array);
      await expect(ask('wrong')).rejects.toThrow(/[Aa]uthentication/);
    },
  );

  test('is made, served and spent on as any other', async () => {
    expect(await migrate()).toEqual({ code: 0, err: '' });
    const worker = await start(['workers/main.ts', 'settlement', 'projector']);
    await until(async () => (await worker.metric('faregate_shards_published')) === SHARDS, 60_000);
    const port = await freePort();
    const gateway = await start(['api/main.ts'], { PORT: String(port) });
    const admin = { url: `${gateway.internalUrl}/admin`, token: stores.adminToken };
    const [agent] = await prepareAgents(admin, 1);
    const balance = () =>
      fetch(`http://127.0.0.1:${port}/v1/balance`, { headers: { 'x-api-key': agent?.key ?? '' } });
    const answer = await balance();
    expect(answer.status).toBe(200);
    expect(Number(JSON.parse(await answer.text()).spendable_usd)).toBeGreaterThan(0);
  });
});
