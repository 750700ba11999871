import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { roles } from '../../api/start/workers/roles.ts';
import { freePort } from '../services/free-port.ts';
import { testDataDir } from '../support/data-dir.ts';
import { until } from '../support/gateway.ts';
import { type NodeProcess, startNodeProcess } from '../support/node-process.ts';

let folder: Awaited<ReturnType<typeof testDataDir>>;
let yaml: string;
const processes: NodeProcess[] = [];
beforeAll(async () => {
  folder = await testDataDir();
  const nobody = () => freePort().then((port) => `127.0.0.1:${port}`);
  await writeFile(join(folder.path, 'pepper'), `${'p'.repeat(43)}\n`);
  await writeFile(join(folder.path, 'token'), 'an-admin-token-of-more-than-32-characters\n');
  yaml = `
storage:
  mode: cluster
  redis: { urls: ["redis://${await nobody()}"] }
  kafka: { brokers: ["${await nobody()}"] }
  cassandra: { contactPoints: ["${await nobody()}"] }
  keyPepper: { id: t, secretFile: ${join(folder.path, 'pepper')} }
admin: { tokenFile: ${join(folder.path, 'token')} }
files:
  { kind: s3, endpoint: "http://${await nobody()}", bucket: files, accessKeyIdFile: ${join(folder.path, 'token')}, secretAccessKeyFile: ${join(folder.path, 'token')} }
`;
});
afterAll(async () => {
  for (const process of processes) await process.stop('SIGKILL');
  await folder[Symbol.asyncDispose]();
});

async function start(command: readonly string[], more = '') {
  const configFile = join(folder.path, `${processes.length}.yaml`);
  await writeFile(configFile, yaml + more);
  const output = join(folder.path, `${processes.length}.log`);
  const process = await startNodeProcess({
    ...{ command, internalPort: await freePort(), output, ready: false },
    env: { FAREGATE_CONFIG: configFile, FAREGATE_DATA: folder.path, PORT: String(await freePort()) },
  });
  processes.push(process);
  return { process, said: () => readFile(output, 'utf8') };
}

const waitsFor = { settlement: 'Kafka', projector: 'Kafka', video: 'Redis', market: 'Kafka' } as const;

const starts: [string, readonly string[], string][] = [
  ['an API process', ['api/main.ts'], 'Redis'],
  ...roles.map((role): [string, readonly string[], string] => [
    `a worker of ${role}`,
    ['workers/main.ts', role],
    waitsFor[role],
  ]),
];

test.each(starts)(
  '%s whose stores are away waits, live and not ready, says for what, and ends when it is told to',
  async (_, command, store) => {
    const { process, said } = await start(command);
    await until(async () => (await said()).includes(`the start waits for ${store}`), 30_000);
    expect((await fetch(`${process.internalUrl}/livez`)).status).toBe(200);
    const ready = await fetch(`${process.internalUrl}/readyz`);
    expect(ready.status).toBe(503);
    const { failing, reasons } = JSON.parse(await ready.text());
    expect(failing).toEqual(['start']);
    expect(reasons.start).toMatch(new RegExp(`it waits for ${store}: .*ECONNREFUSED`));
    expect(await process.metric('faregate_store_awaited')).toBeGreaterThan(0);
    if (command[0] === 'api/main.ts') {
      const admin = await fetch(`${process.internalUrl}/admin/agents`);
      expect(admin.status).toBe(503);
    }
    expect(await process.stop('SIGTERM')).toBe(0);
  },
);

/** Tells the process to end at the moment in which it loads the code of its configuration: long before that is read. */
const endWhileItLoads = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, load) {
      if (url.endsWith('/api/config/config.ts')) process.kill(process.pid, 'SIGTERM');
      return load(url, context);
    },
  });
`)}`;

test.each([['api/main.ts'], ['workers/main.ts']])(
  '%s hears that it is to end also while its code is still being loaded',
  async (entry) => {
    const configFile = join(folder.path, 'early.yaml');
    await writeFile(configFile, yaml);
    const { status, signal, error } = spawnSync(process.execPath, ['--import', endWhileItLoads, entry], {
      env: { ...process.env, FAREGATE_CONFIG: configFile, FAREGATE_DATA: folder.path, INTERNAL_PORT: '0' },
      timeout: 20_000,
    });
    // The time limit would end it with 0, too, so it must not have been needed.
    expect({ status, signal, error }).toEqual({ status: 0, signal: null, error: undefined });
  },
);

test.each([
  ['a wrong configuration', 'limits: { burst: none }', /limits\.burst: has to be a number/],
  [
    'a secret that is missing',
    'providers: [{ id: p, kind: openai, baseUrl: "https://p.example/v1", apiKeyEnv: NOT_SET }]',
    /providers\[0\]\.apiKeyEnv: names an environment variable that is not set/,
  ],
])('%s ends the start by a sentence, stores or not', async (_, more, sentence) => {
  const configFile = join(folder.path, 'wrong.yaml');
  await writeFile(configFile, `${yaml}${more}\n`);
  for (const command of [['api/main.ts'], ['workers/main.ts', 'settlement']]) {
    const { status, stderr } = spawnSync(process.execPath, command, {
      env: { ...process.env, FAREGATE_CONFIG: configFile, FAREGATE_DATA: folder.path },
      encoding: 'utf8',
      timeout: 20_000,
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(sentence);
  }
});
