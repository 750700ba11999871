import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from '../services/free-port.ts';
import { testDataDir } from '../support/data-dir.ts';
import { until } from '../support/gateway.ts';
import { startNodeProcess } from '../support/node-process.ts';
import { useRedis } from '../support/redis-server.ts';
import { describeWith } from '../support/with-services.ts';

describeWith(['redis'], 'several roles in one process', () => {
  const redis = useRedis();
  const members = () => redis.client.hlen('faregate:video-workers');

  test('one that waits for its store keeps no other from its work, and a signal then ends what works in order', async () => {
    await using folder = await testDataDir();
    const secret = join(folder.path, 'secret');
    await writeFile(secret, 'a-secret-of-more-than-32-characters-for-all\n');
    const nobody = () => freePort().then((port) => `127.0.0.1:${port}`);
    const configFile = join(folder.path, 'faregate.yaml');
    await writeFile(
      configFile,
      `
storage:
  mode: cluster
  redis: { urls: ["redis://${redis.service.address}"] }
  kafka: { brokers: ["${await nobody()}"] }
  cassandra: { contactPoints: ["${await nobody()}"] }
  keyPepper: { id: t, secretFile: ${secret} }
  allowUnsafe: true
admin: { tokenFile: ${secret} }
files:
  { kind: s3, endpoint: "http://${await nobody()}", bucket: files, accessKeyIdFile: ${secret}, secretAccessKeyFile: ${secret} }
`,
    );
    const output = join(folder.path, 'workers.log');
    const workers = await startNodeProcess({
      // Started in this order: the first one waits for Kafka.
      ...{ command: ['workers/main.ts', 'settlement', 'video'], internalPort: await freePort(), output },
      ...{ env: { FAREGATE_CONFIG: configFile, FAREGATE_DATA: folder.path }, ready: false },
    });
    try {
      await until(async () => (await members()) === 1, 30_000);
      const ready = () => fetch(`${workers.internalUrl}/readyz`);
      await until(async () => (await (await ready()).text()).includes('it waits for Kafka'), 30_000);
      expect((await ready()).status).toBe(503);
      expect(await workers.stop('SIGTERM')).toBe(0);
      expect(await members()).toBe(0);
      expect(await readFile(output, 'utf8')).toContain('ending: ');
    } finally {
      await workers.stop('SIGKILL');
    }
  });
});
