import { expect, test } from 'vitest';
import { connectTo } from '../support/connect-to.ts';
import { testDataDir } from '../support/data-dir.ts';
import { describeWith } from '../support/with-services.ts';
import { isReady } from './is-ready.ts';
import type { ServiceName } from './service.ts';
import { startRedis } from './start-redis.ts';
import { startService } from './start-service.ts';

describeWith(['redis'], 'a Redis of the tests', () => {
  test('keeps what it acknowledged over a kill, under the same address', async () => {
    await using folder = await testDataDir();
    const service = await startRedis({ dir: folder.path });
    const client = await connectTo(service);
    for (let i = 0; i < 100; i++) await client.set(`k${i}`, i);
    client.disconnect();
    await service.stop('SIGKILL');
    const again = await service.restart();
    expect(again.address).toBe(service.address);
    const reader = await connectTo(again);
    expect(await reader.dbsize()).toBe(100);
    reader.disconnect();
    await again.stop();
  });
});

const at = (port: number) => ({ host: '127.0.0.1', port, tls: false });

describeWith(['kafka', 'cassandra'], 'a broker and a node of the tests', () => {
  test.each<ServiceName>(['kafka', 'cassandra'])('%s answers again after a kill', async (name) => {
    await using folder = await testDataDir();
    const service = await startService[name]({ dir: folder.path });
    await service.stop('SIGKILL');
    expect(await isReady(name, at(service.port))).toBe(false);
    const again = await service.restart();
    expect(await isReady(name, at(again.port))).toBe(true);
    await again.stop('SIGKILL');
  });
});
