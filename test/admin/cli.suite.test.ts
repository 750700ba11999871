import { type SpawnOptions, spawn } from 'node:child_process';
import { accessSync, constants, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { compileCache } from '../support/compile-cache.ts';
import { startTestAdmin, TOKEN } from './admin-harness.ts';

const cliFile = fileURLToPath(new URL('../../api/admin/cli.ts', import.meta.url));

interface Ended {
  code: number;
  out: string;
  err: string;
}

/** The command as a script runs it: pipes, no terminal. */
const run = (args: readonly string[], dataDir: string): Promise<Ended> =>
  start(process.execPath, [cliFile, ...args], {
    env: { ...compileCache, PATH: process.env.PATH, FAREGATE_DATA: dataDir },
  });

function start(file: string, args: readonly string[], options: SpawnOptions): Promise<Ended> {
  const { promise, resolve, reject } = Promise.withResolvers<Ended>();
  const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout?.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    err += chunk;
  });
  child.on('error', reject);
  child.on('close', (code) => resolve({ code: code ?? -1, out, err }));
  return promise;
}

test('the faregate command operates the gateway whose data folder FAREGATE_DATA names', async () => {
  await using admin = await startTestAdmin();
  const { dataDir, url } = admin;
  writeFileSync(join(dataDir, 'demo.json'), JSON.stringify({ admin_url: url, admin_token: TOKEN }));

  expect(await run(['agents', 'create', 'alpha'], dataDir)).toMatchObject({ code: 0, err: '' });
  expect(await run(['credit', 'grant', '1', '5'], dataDir)).toMatchObject({ code: 0 });
  const key = await run(['keys', 'create', '1', 'web shop', '--json'], dataDir);
  expect(JSON.parse(key.out)).toMatchObject({ label: 'web shop', spending_limit: null });
  const list = await run(['agents', 'list'], dataDir);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no escape sequence may reach a pipe.
  expect(list.out).toMatch(/^[^\u001b]+$/);
  expect(list.out).toContain('alpha');

  expect(await run(['agents', 'suspend', '1'], dataDir)).toMatchObject({ code: 2, out: '' });
  expect((await admin.get('/agents/1')).body.status).toBe('active');
  expect(await run(['agents', 'suspend', '1', '--yes'], dataDir)).toMatchObject({ code: 0 });
  expect((await admin.get('/agents/1')).body.status).toBe('suspended');
  expect(await run(['agents', 'show', '7'], dataDir)).toMatchObject({ code: 1, out: '' });
  expect(await run(['ledger', 'audit'], dataDir)).toMatchObject({ code: 0 });

  await admin.stop();
  expect(await run(['agents', 'list'], dataDir)).toMatchObject({ code: 3, out: '' });
});

test('a checkout has the command, too: under a link, in any folder, with an older Node on the path, by its exit codes', async () => {
  await using admin = await startTestAdmin();
  const { dataDir, url } = admin;
  writeFileSync(join(dataDir, 'demo.json'), JSON.stringify({ admin_url: url, admin_token: TOKEN }));
  const bin = join(dataDir, 'bin');
  mkdirSync(bin);
  symlinkSync(fileURLToPath(new URL('../../api/admin/faregate', import.meta.url)), join(bin, 'faregate'));
  writeFileSync(join(bin, 'node'), '#!/bin/sh\nexit 99\n', { mode: 0o755 });
  const faregate = (line: string) =>
    start('sh', ['-c', `faregate ${line}`], {
      cwd: dataDir,
      env: { ...compileCache, PATH: [bin, '/usr/bin', '/bin'].join(delimiter), FAREGATE_DATA: dataDir },
    });
  expect(await faregate("agents create 'Acme Ltd'")).toMatchObject({ code: 0, err: '' });
  expect((await faregate('agents list')).out).toContain('Acme Ltd');
  expect(await faregate('agents show 9')).toEqual({ code: 1, out: '', err: 'There is no agent 9.\n' });
  expect(await faregate('agents suspend 1')).toMatchObject({ code: 2 });
});

test('a reader that has seen enough, as head has, is no error', async () => {
  const line = `'${process.execPath}' '${cliFile}' completion bash; echo $? >&2`;
  expect(await start('sh', ['-c', `{ ${line}; } | true`], { env: process.env })).toMatchObject({
    err: '0\n',
  });
});

test('the command is what the package says it is, and can be run', () => {
  const { bin } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(bin).toEqual({ faregate: 'api/admin/cli.ts' });
  expect(readFileSync(cliFile, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  accessSync(cliFile, constants.X_OK);
});
