import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from '../services/free-port.ts';
import { testDataDir } from '../support/data-dir.ts';
import { startNodeProcess } from '../support/node-process.ts';

interface Found {
  ok: boolean;
  findings: { check: string; state: string; found: string }[];
}

test('a doctor finds nothing wrong with a gateway as it is shipped, running or not, and leaves it alone', async () => {
  await using folder = await testDataDir();
  const ports = { PORT: String(await freePort()), INTERNAL_PORT: String(await freePort()) };
  const env = { FAREGATE_CONFIG: '', FAREGATE_DATA: join(folder.path, 'data'), ...ports };
  const look = (): Found => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['api/admin/cli.ts', 'doctor', '--json'], {
      ...{ env: { ...process.env, ...env }, encoding: 'utf8', timeout: 30_000 },
    });
    expect([status, stderr]).toEqual([0, '']);
    return JSON.parse(stdout);
  };
  const foundOf = ({ findings }: Found, name: string) => findings.find(({ check }) => check === name)?.found;

  const before = look();
  expect(before.findings.every(({ state }) => state === 'ok')).toBe(true);
  expect(foundOf(before, 'gateway')).toBe('none runs here');
  expect(foundOf(before, 'port')).toBe(`127.0.0.1:${ports.PORT} is free`);

  const gateway = await startNodeProcess({
    command: ['api/main.ts'],
    internalPort: Number(ports.INTERNAL_PORT),
    ...{ output: join(folder.path, 'log'), env, ready: true },
  });
  const during = look();
  expect(during.ok).toBe(true);
  expect(foundOf(during, 'gateway')).toBe('it runs and is ready');
  expect(foundOf(during, 'port')).toBe(`127.0.0.1:${ports.PORT} is in use by the gateway`);
  expect(foundOf(during, 'data folder')).toContain(`the gateway of process ${gateway.pid} has it`);
  expect((await fetch(`${gateway.internalUrl}/readyz`)).status).toBe(200);
  expect(await gateway.stop()).toBe(0);
});
