import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { MINUTE_MS, SECOND_MS, systemClock } from '#core/clock.ts';
import { VIDEO_MEMBER_LEASE_MS } from '#core/limits.ts';
import { Secret } from '#core/secret.ts';
import { VIDEO_MEMBERS_KEY } from '#core/worker-names.ts';
import { runCli } from '../../api/admin/cli/run-cli.ts';
import { checkFiles } from '../../api/admin/doctor/check-files.ts';
import type { Finding } from '../../api/admin/doctor/finding.ts';
import { cliEnvironment } from '../../api/config/cli-environment.ts';
import type { Role } from '../../api/start/workers/roles.ts';
import { startS3Home } from '../files/s3-home.ts';
import { freePort } from '../services/free-port.ts';
import { type ClusterStores, startClusterStores } from '../support/cluster-stores.ts';
import { connectTo } from '../support/connect-to.ts';
import { testDataDir } from '../support/data-dir.ts';
import { until } from '../support/gateway.ts';
import { describeWith } from '../support/with-services.ts';
import { startWorkerProcess } from '../support/worker-process.ts';

const ANSWERS_WITHIN_MS = 2 * MINUTE_MS;

describeWith(['redis', 'kafka', 'cassandra'], 'the doctor of a cluster', () => {
  let folder: Awaited<ReturnType<typeof testDataDir>>;
  let stores: ClusterStores;
  beforeAll(async () => {
    folder = await testDataDir();
    stores = await startClusterStores(folder.path);
  });
  afterAll(async () => {
    await stores?.stop();
    await folder[Symbol.asyncDispose]();
  });

  async function faregate(yaml: string, ...args: string[]) {
    const configFile = join(folder.path, 'faregate.yaml');
    await writeFile(configFile, yaml);
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const ports = { PORT: '0', INTERNAL_PORT: '0' };
    const environment = cliEnvironment({ FAREGATE_CONFIG: configFile, FAREGATE_DATA: folder.path, ...ports });
    const code = await runCli(args, { environment, stdin, stdout, stderr });
    stdout.end();
    return { code, out: await text(stdout) };
  }

  async function doctor(yaml = stores.yaml) {
    const { code, out } = await faregate(yaml, 'doctor', '--json');
    const { findings }: { findings: Finding[] } = JSON.parse(out);
    return { code, of: (name: string) => findings.filter(({ check }) => check === name) };
  }

  const strict = () => stores.yaml.replace('allowUnsafe: true', 'allowUnsafe: false');

  test('says of empty stores that they are there, and that faregate migrate was not run', async () => {
    // On a busy machine stores that have just started may answer later than a doctor waits.
    await until(async () => {
      const { of } = await doctor();
      return ['kafka', 'cassandra'].every((store) => of(store)[0]?.todo === 'Run faregate migrate.');
    }, ANSWERS_WITHIN_MS);
    const { code, of } = await doctor();
    expect(code).toBe(1);
    expect(of('redis')[0]).toMatchObject({ state: 'ok', found: expect.stringMatching(/^version \d/) });
    expect(of('redis clock')).toMatchObject([{ state: 'ok' }]);
    expect(of('kafka')).toMatchObject([{ state: 'problem', todo: 'Run faregate migrate.' }]);
    expect(of('cassandra')).toMatchObject([
      {
        state: 'problem',
        found: expect.stringMatching(/^it has no schema of ours/),
        todo: 'Run faregate migrate.',
      },
    ]);
    expect(of('workers')).toMatchObject([
      { state: 'problem', found: expect.stringMatching(/^0 of 64 shards are open/) },
    ]);
  });

  test('names each role that no process has, and finds nothing wrong once all are there but what is allowed for trying out', async () => {
    expect((await faregate(stores.yaml, 'migrate')).code).toBe(0);
    const secret = join(folder.path, 'pepper');
    const withFiles = `${stores.yaml}
files: { kind: s3, endpoint: "http://127.0.0.1:1", bucket: none, accessKeyIdFile: ${secret}, secretAccessKeyFile: ${secret} }`;
    const configFile = join(folder.path, 'workers.yaml');
    await writeFile(configFile, withFiles);
    const start = async (...roles: Role[]) => {
      const worker = await startWorkerProcess({ configFile, folder: folder.path, roles });
      onTestFinished(async () => {
        await worker.stop();
      });
    };
    const workers = async () =>
      (await doctor(withFiles)).of('workers').map(({ state, found }) => `${state}: ${found}`);
    // One that died: it has not told of itself for longer than anybody believes it.
    const redis = await connectTo(stores.redis);
    await redis.hset(VIDEO_MEMBERS_KEY, 'dead', Date.now() - VIDEO_MEMBER_LEASE_MS - 2 * SECOND_MS);
    redis.disconnect();
    await start('settlement');
    await until(async () => (await workers())[0]?.startsWith('ok') ?? false, 60_000);
    expect(await workers()).toEqual([
      'ok: 64 of 64 shards are open, 64 are led by settlement workers',
      'warning: no process has the role video: what is ordered is not made',
      'problem: no process has the role projector: history and usage are not written',
      'warning: no process has the role market: books and candles stand still, and trades move no credit',
    ]);
    expect((await doctor()).code).toBe(1);
    await start('projector', 'video', 'market');
    await until(async () => (await workers()).every((each) => each.startsWith('ok')), 60_000);
    expect((await workers()).slice(1)).toEqual([
      'ok: 1 process has the role video',
      'ok: 1 process has the role projector',
      'ok: 1 process has the role market',
    ]);
    const { code, of } = await doctor();
    expect(code).toBe(0);
    expect(of('workers')).toHaveLength(3);
    expect((await doctor(`${stores.yaml}\nmarket: off`)).of('workers')).toHaveLength(2);
    expect(of('cassandra')).toMatchObject([
      { state: 'ok', found: expect.stringMatching(/^version \d.*, schema \d+$/) },
    ]);
    expect(of('kafka').map(({ state }) => state)).toContain('warning');
    expect((await doctor(strict())).of('kafka').map(({ state }) => state)).toContain('problem');
  });

  test('a Redis that evicts is a problem, as it is for a start', async () => {
    const redis = await connectTo(stores.redis);
    await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
    redis.disconnect();
    const { code, of } = await doctor(strict());
    expect(code).toBe(1);
    expect(of('redis')).toContainEqual(
      expect.objectContaining({
        state: 'problem',
        found: expect.stringContaining('maxmemory-policy allkeys-lru'),
      }),
    );
  });

  test('a store that is away is named with its address, without a wait', async () => {
    const nobody = `127.0.0.1:${await freePort()}`;
    const { code, of } = await doctor(stores.yamlWith(nobody));
    expect(code).toBe(1);
    expect(of('redis')).toMatchObject([
      {
        state: 'problem',
        found: `cannot be reached: ${nobody} (ECONNREFUSED)`,
        todo: 'Start it, or correct storage.redis.urls.',
      },
    ]);
  });

  test('a Redis that wants a password, or another, is a problem of the configuration, not of Redis', async () => {
    const redis = await connectTo(stores.redis);
    await redis.config('SET', 'requirepass', 'a-password');
    await writeFile(join(folder.path, 'wrong'), 'no-such-password');
    const withWrong = stores.yaml.replace(
      'redis: {',
      `redis: { passwordFile: ${join(folder.path, 'wrong')},`,
    );
    const [without, wrong] = [await doctor(), await doctor(withWrong)];
    await redis.config('SET', 'requirepass', '');
    redis.disconnect();
    for (const [{ code, of }, found] of [
      [without, /NOAUTH/],
      [wrong, /WRONGPASS/],
    ] as const) {
      expect(code).toBe(1);
      expect(of('redis')).toMatchObject([
        {
          state: 'problem',
          found: expect.stringMatching(found),
          todo: 'Correct user, password or TLS in storage.redis.',
        },
      ]);
      expect(of('redis')[0]?.found).not.toContain('no-such-password');
    }
  });
});

describeWith(['s3'], 'the doctor of an S3 store', () => {
  test('writes, reads and deletes a file, and tells of keys that may not', async () => {
    await using s3 = await startS3Home();
    expect(await checkFiles({ kind: 's3', ...s3.settings }, systemClock)).toMatchObject([
      { state: 'ok', found: expect.stringMatching(/takes, returns and deletes a file$/) },
    ]);
    expect(await s3.leftovers()).toEqual([]);
    const secretAccessKey = new Secret('another-secret');
    const found = await checkFiles({ kind: 's3', ...s3.settings, secretAccessKey }, systemClock);
    expect(found).toMatchObject([
      { state: 'problem', todo: expect.stringMatching(/^Correct files' bucket and keys/) },
    ]);
    expect(JSON.stringify(found)).not.toContain('another-secret');
    const endpoint = `http://127.0.0.1:${await freePort()}`;
    expect(await checkFiles({ kind: 's3', ...s3.settings, endpoint }, systemClock)).toMatchObject([
      { state: 'problem', todo: 'Start it, or correct files.endpoint.' },
    ]);
  });
});
