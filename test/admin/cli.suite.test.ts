import { spawn } from 'node:child_process';
import { accessSync, constants, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startTestAdmin, TOKEN } from './admin-harness.ts';

const cliFile = fileURLToPath(new URL('../../api/admin/cli.ts', import.meta.url));

/** The command as a script runs it: pipes, no terminal. */
function run(args: readonly string[], dataDir: string): Promise<{ code: number; out: string; err: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ code: number; out: string; err: string }>();
  const env = { PATH: process.env.PATH, FAREGATE_DATA: dataDir };
  const child = spawn(process.execPath, [cliFile, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
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

test('the command is what the package says it is, and can be run', () => {
  const { bin } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(bin).toEqual({ faregate: 'api/admin/cli.ts' });
  expect(readFileSync(cliFile, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  accessSync(cliFile, constants.X_OK);
});
