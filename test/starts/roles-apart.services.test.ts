import { spawnSync } from 'node:child_process';
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
    const configFile = await writeConfig(folder.path, `{ urls: ["redis://${redis.service.address}"] }`);
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

  test('one that cannot start is said at once, and the whole process ends by a sentence, also of those that wait', async () => {
    await using folder = await testDataDir();
    await redis.client.config('SET', 'requirepass', 'right');
    try {
      const FAREGATE_CONFIG = await writeConfig(
        folder.path,
        `{ urls: ["redis://${redis.service.address}"], passwordEnv: REDIS_PASSWORD }`,
      );
      const { status, stderr, stdout } = spawnSync(
        process.execPath,
        ['workers/main.ts', 'settlement', 'video'],
        {
          env: {
            ...process.env,
            ...{ FAREGATE_CONFIG, FAREGATE_DATA: folder.path, INTERNAL_PORT: '0', REDIS_PASSWORD: 'wrong' },
          },
          encoding: 'utf8',
          timeout: 30_000,
        },
      );
      expect(status).toBe(1);
      expect(stderr + stdout).toContain('a role cannot start, the others end');
      expect(stderr.trim().split('\n').at(-1)).toMatch(/^Redis .*(password|WRONGPASS)/);
    } finally {
      await redis.client.config('SET', 'requirepass', '');
    }
  });
});

/** Kafka and Cassandra are away. */
async function writeConfig(folder: string, redisYaml: string): Promise<string> {
  const secret = join(folder, 'secret');
  await writeFile(secret, 'a-secret-of-more-than-32-characters-for-all\n');
  const nobody = () => freePort().then((port) => `127.0.0.1:${port}`);
  const configFile = join(folder, 'faregate.yaml');
  await writeFile(
    configFile,
    `
storage:
  mode: cluster
  redis: ${redisYaml}
  kafka: { brokers: ["${await nobody()}"] }
  cassandra: { contactPoints: ["${await nobody()}"] }
  keyPepper: { id: t, secretFile: ${secret} }
  allowUnsafe: true
admin: { tokenFile: ${secret} }
files:
  { kind: s3, endpoint: "http://${await nobody()}", bucket: files, accessKeyIdFile: ${secret}, secretAccessKeyFile: ${secret} }
`,
  );
  return configFile;
}
