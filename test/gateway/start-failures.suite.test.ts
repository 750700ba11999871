import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { testDataDir } from '../support/data-dir.ts';
import { startTestGateway } from '../support/gateway.ts';
import { buildFaultShim } from '../support/power-cut-shim.ts';

const folder = mkdtempSync(join(tmpdir(), 'faregate-start-'));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, 'a-file'), '');

const folders = [join(folder, 'a-file'), join(folder, 'a-file/deeper')];
// The kernel answers that the parent is missing, though it is there.
if (process.platform === 'linux') folders.push('/proc/nope');

const start = (dataDir: string, env: Record<string, string> = {}) =>
  spawnSync(process.execPath, ['api/main.ts'], {
    env: {
      ...process.env,
      FAREGATE_CONFIG: '',
      FAREGATE_DATA: dataDir,
      PORT: '0',
      INTERNAL_PORT: '0',
      ...env,
    },
    encoding: 'utf8',
    timeout: 20_000,
  });

test.each([
  [
    'ledger.sqlite',
    'removed',
    /is missing or empty, though the pepper\.json beside it says that the folder has been in use/,
  ],
  [
    'ledger.sqlite',
    'emptied',
    /is missing or empty, though the pepper\.json beside it says that the folder has been in use/,
  ],
  ['pepper.json', 'removed', /is missing\. Restore it from a backup: no existing API key works without it/],
])(
  'a start beside a %s that was %s refuses, and makes no new one in its place',
  async (file, how, reason) => {
    await using used = await testDataDir();
    await (await startTestGateway({ dataDir: used.path })).stop();
    const path = join(used.path, file);
    if (how === 'removed') rmSync(path);
    else writeFileSync(path, '');
    const { status, stderr } = start(used.path);
    expect(status).toBe(1);
    expect(stderr).toMatch(reason);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(existsSync(path) && statSync(path).size > 0).toBe(false);
  },
);

test.each(folders)('a start whose data cannot be kept ends with a sentence: %s', (dataDir) => {
  const { status, stderr } = start(dataDir);
  expect(status).toBe(1);
  expect(stderr).toContain(dataDir);
  expect(stderr).toMatch(
    /^The data folder .* cannot be used: .*choose another folder with FAREGATE_DATA\.$/m,
  );
  expect(stderr.trim().split('\n')).toHaveLength(1);
});

test.each(['PORT', 'INTERNAL_PORT'])(
  'a start whose %s another program has names the address, and the setting to change',
  async (name) => {
    await using used = await testDataDir();
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo; // It listens, and on TCP.
    const { status, stderr } = start(used.path, { [name]: String(port) });
    other.close();
    expect(status).toBe(1);
    expect(stderr).toContain(`Another program listens on 127.0.0.1:${port}`);
    expect(stderr).toContain(`choose another port with ${name} (`);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  },
);

test('a start with mistakes in its configuration says each with its place, and shows no stack', async () => {
  await using used = await testDataDir();
  const config = join(used.path, 'faregate.yaml');
  writeFileSync(config, 'limits:\n  burst: many\nservr: {}\n');
  const { status, stdout, stderr } = start(join(used.path, 'data'), { FAREGATE_CONFIG: config });
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/faregate\.yaml:2:10 limits\.burst: has to be a number/);
  expect(stderr).toMatch(/faregate\.yaml:3:1 servr: /);
  expect(stderr).not.toMatch(/^ +at /m);
  expect(existsSync(join(used.path, 'data'))).toBe(false);
});

const shim = buildFaultShim();
if (shim === null)
  console.warn('\nSKIPPED: a start on a full disk. There is no C compiler for Linux here.\n');

test.skipIf(shim === null)('a start on a full disk names the folder and says what to do', async () => {
  await using used = await testDataDir();
  const faults = join(used.path, 'faults');
  writeFileSync(faults, '1 write ENOSPC 0 1000000\n');
  const dataDir = join(used.path, 'data');
  const env = { LD_PRELOAD: shim ?? '', FAULT_ROOT: dataDir, FAULT_CONTROL: faults };
  const { status, stderr } = start(dataDir, env);
  expect(status).toBe(1);
  expect(stderr.trim()).toMatch(
    /^The data folder \S+ cannot be used: its disk is full\. .*Mend that, or choose another folder with FAREGATE_DATA\.$/,
  );
});

test('a start beside a gateway that has the folder names its process', async () => {
  await using used = await testDataDir();
  const gateway = await startTestGateway({ dataDir: used.path });
  const { status, stderr } = start(used.path);
  await gateway.stop();
  expect(status).toBe(1);
  expect(stderr.trim()).toBe(
    `${used.path} is in use by process ${process.pid}: stop it, or choose another folder with FAREGATE_DATA`,
  );
});

test('a host that is none of this machine is said to be that, and no trouble of the disk', async () => {
  await using used = await testDataDir();
  const config = join(used.path, 'faregate.yaml');
  writeFileSync(config, 'server: { host: 203.0.113.9 }\n');
  const { status, stderr } = start(join(used.path, 'data'), { FAREGATE_CONFIG: config });
  expect(status).toBe(1);
  expect(stderr.trim()).toBe(
    '203.0.113.9 is no address of this machine (EADDRNOTAVAIL). Name one of its own in server.host, such as 127.0.0.1.',
  );
});

test('a Node that is too old is told so in a sentence, before it reads any TypeScript', () => {
  const asOld = "Object.defineProperty(process, 'versions', { value: { node: '20.1.0' } });";
  const script = `${asOld} require('./api/core/require-node.cjs'); console.log('goes on');`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toMatch(
    /^Faregate needs Node\.js 24 or newer, and this is 20\.1\.0 \(.*\)\. Use "make run".*\n$/,
  );
  const makefile = readFileSync('Makefile', 'utf8');
  for (const entry of ['api/main.ts', 'workers/main.ts', 'api/admin/cli.ts', 'api/simulator/main.ts']) {
    expect(makefile).toMatch(new RegExp(`node \\$\\(NEWER_NODE\\).* ${entry}`));
  }
});

test('the simulator alone says in a sentence that it cannot have its port', async () => {
  const simulate = (port: number | string) => {
    const args = ['api/simulator/main.ts', `--port=${port}`];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 20_000 });
    return { status, stderr };
  };
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  expect(simulate(port)).toEqual({
    status: 1,
    stderr: `Another program listens on 127.0.0.1:${port}. Choose another port with PORT.\n`,
  });
  other.close();
  for (const odd of ['abc', '-1', '80x', '65536']) {
    const stderr = `PORT has to be a port number, from 0 to 65535, and is ${odd}.\n`;
    expect(simulate(odd)).toEqual({ status: 1, stderr });
  }
});
