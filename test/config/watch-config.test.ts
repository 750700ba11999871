import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type Config, loadConfig } from '../../api/config/config.ts';
import {
  CONFIG_POLL_MS,
  type LiveConfig,
  type ReloadStatus,
  watchConfig,
} from '../../api/config/watch-config.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { dialectNameOf, FILE, filesOf } from './support.ts';

interface Watched {
  live: LiveConfig;
  clock: FakeClock;
  files: Record<string, string>;
  changes: Config[];
  reloads: ReloadStatus[];
  /** One look at the file, to its end. */
  look: () => Promise<void>;
}

const open: { close(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

async function watch(env: Record<string, string>, files: Record<string, string> | null): Promise<Watched> {
  const clock = createFakeClock();
  const changes: Config[] = [];
  const reloads: ReloadStatus[] = [];
  const reading = files === null ? {} : { readFile: (path: string) => filesOf(files)(path) };
  const live = watchConfig({
    config: await loadConfig(env, reading.readFile),
    clock,
    env,
    onChange: (config) => changes.push(config),
    onReload: (status) => reloads.push(status),
    ...reading,
  });
  open.push(live);
  const look = async (): Promise<void> => {
    clock.advance(CONFIG_POLL_MS);
    await expect.poll(() => clock.pendingTimers(), { interval: 1 }).toBe(1);
  };
  return { live, clock, files: files ?? {}, changes, reloads, look };
}

const watchText = (yaml: string, env: Record<string, string> = {}): Promise<Watched> =>
  watch({ ...env, FAREGATE_CONFIG: FILE }, { [FILE]: yaml });

const burst = (value: number): string => `limits: { burst: ${value} }`;

test('a changed file is in force after two equal looks, without a restart', async () => {
  const { live, files, changes, reloads, look } = await watchText(burst(1));
  await look();
  await look();
  expect(reloads).toEqual([]);

  files[FILE] = burst(2);
  await look();
  expect(live.current().limits.burst).toBe(1);
  await look();
  expect(live.current().limits.burst).toBe(2);
  expect(changes).toEqual([live.current()]);
  expect(live.lastReload()).toMatchObject({
    ok: true,
    message: 'The configuration was reloaded.',
    needsRestart: [],
  });
  await look();
  expect(reloads).toHaveLength(1);
});

test('a file that is just being written is not taken half', async () => {
  const { live, files, reloads, look } = await watchText(burst(1));
  for (const text of ['limits: {', 'limits: { burst: 3', `${burst(3)} # x`]) {
    files[FILE] = text;
    await look();
  }
  expect(reloads).toEqual([]);
  await look();
  expect(live.current().limits.burst).toBe(3);
});

test('a wrong file keeps the old configuration, says so once, and the next good one is taken', async () => {
  const { live, clock, files, changes, reloads, look } = await watchText(burst(1));
  files[FILE] = 'limits: { burst: 0 }';
  for (let at = 0; at < 5; at++) await look();
  expect(live.current().limits.burst).toBe(1);
  expect(changes).toEqual([]);
  expect(reloads).toEqual([
    {
      ok: false,
      atMs: clock.now() - 3 * CONFIG_POLL_MS,
      message: `The configuration was not reloaded, the one of before goes on. The configuration has a problem:\n  ${FILE}:1:18 limits.burst: has to be at least 1`,
      needsRestart: [],
    },
  ]);
  expect(live.lastReload()).toEqual(reloads[0]);

  files[FILE] = burst(4);
  await look();
  await look();
  expect(live.current().limits.burst).toBe(4);
  expect(live.lastReload()?.ok).toBe(true);
});

test('a file that goes away keeps the old configuration, and counts again when it is back', async () => {
  const { live, files, reloads, look } = await watchText(burst(1));
  delete files[FILE];
  for (let at = 0; at < 4; at++) await look();
  expect(live.current().limits.burst).toBe(1);
  expect(reloads.map((each) => each.ok)).toEqual([false]);
  files[FILE] = burst(1);
  await look();
  await look();
  expect(reloads.map((each) => each.ok)).toEqual([false, true]);
});

test('keys that need a restart are named and not applied, the rest is', async () => {
  const { live, files, look } = await watchText('server: { port: 1 }');
  files[FILE] = `server: { port: 2, callIdHeader: x-id }\nstorage: { dataDir: /other }\n${burst(5)}`;
  await look();
  await look();
  expect(live.current().server).toMatchObject({ port: 1, callIdHeader: 'x-service-call-id' });
  expect(live.current().storage.dataDir).not.toBe('/other');
  expect(live.current().limits.burst).toBe(5);
  expect(live.lastReload()).toMatchObject({
    ok: true,
    needsRestart: ['server.port', 'server.callIdHeader', 'storage.dataDir'],
    message:
      'The configuration was reloaded. These keys need a restart: server.port, server.callIdHeader, storage.dataDir.',
  });
});

test('a reload says once of a provider what a start would say of it', async () => {
  const provider = (baseUrl: string): string =>
    `providers: [{ id: own, kind: openai, baseUrl: "${baseUrl}" }]\nmodels: []\n`;
  const { live, files, reloads, look } = await watchText(provider('https://api.groq.com/openai/v1'));
  const take = async (yaml: string): Promise<string | undefined> => {
    files[FILE] = yaml;
    await look();
    await look();
    return reloads.at(-1)?.message;
  };
  expect(await take(provider('http://10.0.0.8:8000/v1'))).toMatch(
    /^The configuration was reloaded\. Provider own is at a private address and names no dialect, /,
  );
  expect(dialectNameOf(live.current().providers[0])).toBe('self-hosted');

  expect(await take(`${provider('http://10.0.0.8:8000/v1')}# the same`)).toBe(
    'The configuration was reloaded.',
  );
});

test('a key file that is replaced is read again', async () => {
  const yaml = 'providers: [{ id: p, kind: openai, baseUrl: "http://h/v1", apiKeyFile: /run/key }]';
  const { live, files, look } = await watch({ FAREGATE_CONFIG: FILE }, { [FILE]: yaml, '/run/key': 'old' });
  files['/run/key'] = 'new';
  await look();
  await look();
  expect(live.current().providers[0]?.apiKey?.reveal()).toBe('new');
});

test('a key file that arrives after the configuration that names it is picked up', async () => {
  const { live, files, reloads, look } = await watchText('providers: []');
  files[FILE] = 'providers: [{ id: p, kind: openai, baseUrl: "http://h/v1", apiKeyFile: /run/key }]';
  await look();
  await look();
  await look();
  await look();
  expect(reloads).toHaveLength(1);
  expect(reloads[0]?.message).toContain('names a file that cannot be read (ENOENT: there is no such file)');
  files['/run/key'] = 'arrived';
  await look();
  await look();
  expect(live.current().providers[0]?.apiKey?.reveal()).toBe('arrived');
});

test('a bundled simulator cannot appear in a running process', async () => {
  const { live, files, look } = await watchText('providers: []');
  files[FILE] = 'providers: [{ id: s, kind: simulator }]';
  await look();
  await look();
  expect(live.lastReload()?.ok).toBe(false);
  expect(live.lastReload()?.message).toContain('restart it, or name a baseUrl');
  expect(live.current().providers).toEqual([]);
});

test('a reload on demand reads an unchanged file too, and does not make the watch read it again', async () => {
  const { live, files, reloads, look } = await watchText(burst(1));
  expect((await live.reload()).ok).toBe(true);
  files[FILE] = burst(6);
  expect((await live.reload()).ok).toBe(true);
  expect(live.current().limits.burst).toBe(6);
  await look();
  await look();
  await look();
  expect(reloads).toHaveLength(2);
});

test('a change that cannot be applied leaves the old configuration in force', async () => {
  const files = { [FILE]: burst(1) };
  const env = { FAREGATE_CONFIG: FILE };
  const readFile = (path: string): Promise<string> => filesOf(files)(path);
  const live = watchConfig({
    config: await loadConfig(env, readFile),
    clock: createFakeClock(),
    env,
    readFile,
    onChange: () => {
      throw new Error('no');
    },
    onReload: () => {},
  });
  open.push(live);
  files[FILE] = burst(2);
  expect(await live.reload()).toMatchObject({ ok: false });
  expect(live.current().limits.burst).toBe(1);
});

test('a Kubernetes ConfigMap, which is replaced by moving a symbolic link, is noticed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'faregate-config-'));
  try {
    for (const [name, value] of [
      ['..v1', 1],
      ['..v2', 2],
    ] as const) {
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, 'faregate.yaml'), burst(value));
    }
    await symlink('..v1', join(folder, '..data'));
    await symlink(join('..data', 'faregate.yaml'), join(folder, 'faregate.yaml'));
    const { live, look } = await watch({ FAREGATE_CONFIG: join(folder, 'faregate.yaml') }, null);
    expect(live.current().limits.burst).toBe(1);

    await symlink('..v2', join(folder, '..data_tmp'));
    await rename(join(folder, '..data_tmp'), join(folder, '..data'));
    await look();
    await look();
    expect(live.current().limits.burst).toBe(2);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('without a file nothing is watched, and a closed watch leaves no timer', async () => {
  const { clock } = await watch({}, {});
  expect(clock.pendingTimers()).toBe(0);
  const watched = await watchText(burst(1));
  expect(watched.clock.pendingTimers()).toBe(1);
  watched.live.close();
  expect(watched.clock.pendingTimers()).toBe(0);
});
