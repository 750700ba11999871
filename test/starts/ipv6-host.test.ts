import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { httpOrigin } from '#core/http-origin.ts';
import { createLog } from '#core/log.ts';
import { loadConfig } from '../../api/config/config.ts';
import { startGateway } from '../../api/start/start-gateway.ts';
import { testDataDir } from '../support/data-dir.ts';

const hasIpv6 = Object.values(networkInterfaces()).some((each) =>
  each?.some(({ family }) => family === 'IPv6'),
);

describe('a gateway that listens on an IPv6 address', () => {
  it.skipIf(!hasIpv6)('starts, and prints addresses that lead to it', async () => {
    await using folder = await testDataDir();
    const config = await loadConfig({ PORT: '0', INTERNAL_PORT: '0', FAREGATE_DATA: folder.path });
    const server = { ...config.server, host: '::1', internalHost: '::1' };
    const gateway = await startGateway({ ...config, server }, { log: createLog({ write: () => undefined }) });
    const { base_url } = JSON.parse(readFileSync(join(folder.path, 'demo.json'), 'utf8'));
    const statuses = [`${base_url.replace(/\/v1$/, '')}/openapi.json`, `${gateway.internalUrl}/readyz`].map(
      async (url) => {
        expect(url).toMatch(/^http:\/\/\[::1\]:\d+\//);
        return (await fetch(url)).status;
      },
    );
    expect(await Promise.all(statuses)).toEqual([200, 200]);
    await gateway.stop();
  });

  it.each([
    ['127.0.0.1', 'http://127.0.0.1:8080'],
    ['gateway.internal', 'http://gateway.internal:8080'],
    ['::', 'http://[::]:8080'],
    ['fe80::1%eth0', 'http://[fe80::1]:8080'],
  ])('is reached in a URL as the URL needs it: %s', (host, origin) => {
    expect(httpOrigin(host, 8080)).toBe(origin);
    expect(new URL(origin).origin).toBe(origin);
  });
});
