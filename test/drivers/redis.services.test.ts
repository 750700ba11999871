import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { isRedisAway, isRedisUnavailable, openRedis, type RedisClient } from '#core/drivers/redis.ts';
import { createEvaluator } from '#core/drivers/redis-evaluator.ts';
import { freePort } from '../services/free-port.ts';
import { until } from '../support/gateway.ts';
import { startRedisCluster } from '../support/redis-cluster.ts';
import { useRedis } from '../support/redis-server.ts';
import { startTcpForwarder, type TcpForwarder } from '../support/tcp-forwarder.ts';
import { describeWith } from '../support/with-services.ts';

describeWith(['redis'], 'a client for money', () => {
  const redis = useRedis();
  const successor = useRedis();

  const through = async (run: (way: TcpForwarder, client: RedisClient) => Promise<void>): Promise<void> => {
    const way = await startTcpForwarder(redis.service.port);
    const client = await openRedis({ urls: [`redis://${way.address}`], cluster: false });
    try {
      await run(way, client);
    } finally {
      client.disconnect();
      way.close();
      await redis.client.replicaof('NO', 'ONE');
    }
  };

  const isWritten = (client: RedisClient) =>
    client.set('a', 1).then(
      () => true,
      () => false,
    );

  const errorOf = (work: Promise<unknown>): Promise<unknown> => work.then(() => null).catch((error) => error);

  test('leaves a connection through which nothing comes any more, though nobody has closed it', async () => {
    await through(async (way, client) => {
      expect(await isWritten(client)).toBe(true);
      way.silence();
      await until(() => isWritten(client), 10_000);
    });
  });

  test('leaves a primary that became a replica and closed no connection', async () => {
    await through(async (way, client) => {
      expect(await isWritten(client)).toBe(true);
      await redis.client.replicaof('127.0.0.1', successor.service.port);
      way.newcomersTo(successor.service.port);
      await until(() => isWritten(client), 10_000);
      expect(await successor.client.get('a')).toBe('1');
    });
  });

  test('leaves it once, however many are told, and asks nothing of it while it does', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on('warning', note);
    const sha = String(await redis.client.script('LOAD', "return redis.call('INCR', KEYS[1])"));
    await successor.client.script('LOAD', "return redis.call('INCR', KEYS[1])");
    await through(async (way, client) => {
      const evaluate = createEvaluator(client);
      expect(await evaluate(sha, ['n'], [])).toBe(1);
      await redis.client.replicaof('127.0.0.1', successor.service.port);
      way.newcomersTo(successor.service.port);
      const ask = () => errorOf(evaluate(sha, ['n'], []));
      const asked = Array.from({ length: 100 }, async () => [await ask(), await ask()]);
      const errors = (await Promise.all(asked)).flat();
      for (const error of errors) expect(String(error)).toMatch(/READONLY|Redis was not asked/);
      await until(async () => (await ask()) === null);
      expect(errors.filter((error) => !isRedisUnavailable(error))).toEqual([]);
    });
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  test('calls by its name what an outage makes of a command, and of a connection that never came about', async () => {
    await through(async (way, client) => {
      await redis.client.call('CLIENT', 'PAUSE', '400', 'WRITE');
      const underWay = errorOf(client.set('a', 2));
      way.to(null);
      expect(await underWay).toSatisfy(isRedisUnavailable);
      expect(await errorOf(client.set('a', 3))).toSatisfy(isRedisUnavailable);
      expect(await errorOf(openRedis({ urls: [`redis://${way.address}`], cluster: false }))).toSatisfy(
        isRedisUnavailable,
      );
    });
    const mute = createServer((socket) => void socket.resume()).listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const { port } = mute.address() as AddressInfo;
    const opening = openRedis({ urls: [`redis://127.0.0.1:${port}`], cluster: false });
    expect(await errorOf(opening)).toSatisfy(isRedisUnavailable);
    mute.close();
    await once(mute, 'close');
    expect(await errorOf(openRedis({ urls: [`redis://127.0.0.1:${port}`], cluster: false }))).toSatisfy(
      isRedisUnavailable,
    );
    expect(isRedisUnavailable(new TypeError('x is not a function'))).toBe(false);
  });

  test('of a Redis Cluster says whether its nodes are away, or do not let us in: no waiting mends that', async () => {
    const whyNot = (urls: readonly string[]) => errorOf(openRedis({ urls, cluster: true }));
    await using cluster = await startRedisCluster();
    const wrong = await whyNot(cluster.urls.map((url) => url.replace('//', '//somebody:wrong@')));
    expect(String(wrong)).toContain('WRONGPASS');
    expect(isRedisAway(wrong)).toBe(false);
    const away = await whyNot([`redis://127.0.0.1:${await freePort()}`]);
    expect(away).toSatisfy(isRedisAway);
  });
});
