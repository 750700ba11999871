import { expect, test } from 'vitest';
import { openRedis, type RedisClient } from '#core/drivers/redis.ts';
import { until } from '../support/gateway.ts';
import { useRedis } from '../support/redis-server.ts';
import { startTcpForwarder, type TcpForwarder } from '../support/tcp-forwarder.ts';
import { describeWith } from '../support/with-services.ts';

describeWith(['redis'], 'a client for money', () => {
  const redis = useRedis();
  const successor = useRedis();

  const through = async (way: TcpForwarder, run: (client: RedisClient) => Promise<void>): Promise<void> => {
    const client = await openRedis({ urls: [`redis://${way.address}`], cluster: false });
    try {
      await run(client);
    } finally {
      client.disconnect();
      way.close();
    }
  };

  const isWritten = (client: RedisClient) =>
    client.set('a', 1).then(
      () => true,
      () => false,
    );

  test('leaves a connection through which nothing comes any more, though nobody has closed it', async () => {
    const way = await startTcpForwarder(redis.service.port);
    await through(way, async (client) => {
      expect(await isWritten(client)).toBe(true);
      way.silence();
      await until(() => isWritten(client), 10_000);
    });
  });

  test('leaves a primary that became a replica and closed no connection', async () => {
    const way = await startTcpForwarder(redis.service.port);
    await through(way, async (client) => {
      expect(await isWritten(client)).toBe(true);
      await redis.client.replicaof('127.0.0.1', successor.service.port);
      way.newcomersTo(successor.service.port);
      await until(() => isWritten(client), 10_000);
      expect(await successor.client.get('a')).toBe('1');
    });
    await redis.client.replicaof('NO', 'ONE');
  });
});
