import { test } from 'vitest';
import { listenToRedis } from '#core/drivers/redis.ts';
import { until } from '../../support/gateway.ts';
import { useRedis } from '../../support/redis-server.ts';
import { describeWith } from '../../support/with-services.ts';

describeWith(['redis'], 'who listens to Redis', () => {
  const redis = useRedis();

  test('hears again after each cut, however early it comes, and no cut ends the process', async () => {
    const heard: string[] = [];
    const listener = await listenToRedis(redis.client, ['news'], (_, message) => void heard.push(message));
    for (let cut = 0; cut < 100; cut++) {
      await redis.client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      // In the middle of its way back, too: before it has subscribed again it is a client like any other.
      if (cut % 3 === 0) await redis.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await new Promise((resolve) => setTimeout(resolve, cut % 7));
    }
    await until(async () => {
      await redis.client.publish('news', 'again');
      return heard.length > 0;
    });
    listener.disconnect();
  });
});
