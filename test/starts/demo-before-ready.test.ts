import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createLog } from '#core/log.ts';
import { loadConfig } from '../../api/config/config.ts';
import { startGateway } from '../../api/start/start-gateway.ts';
import { freePort } from '../services/free-port.ts';
import { testDataDir } from '../support/data-dir.ts';

const configOf = async (dataDir: string) =>
  loadConfig({ PORT: '0', INTERNAL_PORT: String(await freePort()), FAREGATE_DATA: dataDir });
const quiet = createLog({ write: () => undefined });

test('a gateway is ready once its demo.json is written', async () => {
  await using folder = await testDataDir();
  const gateway = await startGateway(await configOf(folder.path), { log: quiet });
  expect((await fetch(`${gateway.internalUrl}/readyz`)).status).toBe(200);
  expect(existsSync(join(folder.path, 'demo.json'))).toBe(true);
  await gateway.stop();
});

test('a gateway whose demo.json cannot be written is never ready, and its start fails', async () => {
  await using folder = await testDataDir();
  mkdirSync(join(folder.path, 'demo.json'));
  const config = await configOf(folder.path);
  const seen = new Set<number>();
  let isOver = false;
  const look = async () => {
    while (!isOver) {
      const url = `http://127.0.0.1:${config.server.internalPort}/readyz`;
      const status = await fetch(url).then(
        (res) => res.status,
        () => 0,
      );
      seen.add(status);
    }
  };
  const looking = look();
  await expect(startGateway(config, { log: quiet })).rejects.toThrow('EISDIR');
  isOver = true;
  await looking;
  expect([...seen]).toContain(503);
  expect([...seen]).not.toContain(200);
});
