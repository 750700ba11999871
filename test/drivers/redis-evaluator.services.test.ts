import { once } from 'node:events';
import { beforeEach, expect, test, vi } from 'vitest';
import { createEvaluator, type Evaluate, NotAskedError } from '#core/drivers/redis-evaluator.ts';
import { connectTo } from '../support/connect-to.ts';
import { until } from '../support/gateway.ts';
import { useRedis } from '../support/redis-server.ts';
import { describeWith } from '../support/with-services.ts';

describeWith(['redis'], 'scripts that are asked for together', () => {
  const redis = useRedis();
  let evaluate: Evaluate;
  let add: () => Promise<unknown>;

  beforeEach(async () => {
    await redis.client.flushall();
    const sha = String(await redis.client.script('LOAD', "return redis.call('INCRBY', KEYS[1], ARGV[1])"));
    evaluate = createEvaluator(redis.client);
    add = () => evaluate(sha, ['sum'], [1]);
  });

  const sum = async () => Number(await redis.client.get('sum'));

  test('go out in one write, and each gets its own answer', async () => {
    const write = vi.spyOn(redis.client.stream, 'write');
    const answers = Promise.all(Array.from({ length: 50 }, add));
    expect(await answers).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
    expect(write).toHaveBeenCalledTimes(1);
    write.mockRestore();
  });

  test('fail each by itself', async () => {
    const [known, unknown, next] = await Promise.allSettled([add(), evaluate('f'.repeat(40), [], []), add()]);
    expect([known, next]).toMatchObject([{ value: 1 }, { value: 2 }]);
    expect(unknown).toMatchObject({ status: 'rejected', reason: { message: /^NOSCRIPT/ } });
  });

  test('are not asked of the next connection where theirs was cut before they went out', async () => {
    const connectsAgain = once(redis.client, 'ready');
    const answers = Promise.allSettled([add(), add()]);
    redis.client.stream.destroy();
    for (const { status } of await answers) expect(status).toBe('rejected');
    await expect(add()).rejects.toThrow(NotAskedError);
    await connectsAgain;
    expect(await sum()).toBe(0);
  });

  test('are asked once, where it is cut before their answers came', async () => {
    const other = await connectTo(redis.service);
    const connectsAgain = once(redis.client, 'ready');
    redis.client.stream.pause();
    const answers = Promise.allSettled([add(), add()]);
    await until(async () => (await other.get('sum')) === '2');
    redis.client.stream.destroy();
    for (const { status } of await answers) expect(status).toBe('rejected');
    await connectsAgain;
    expect(await add()).toBe(3);
    other.disconnect();
  });

  test('are waited for for half a second, and what comes later is taken for no other’s answer', async () => {
    const other = await connectTo(redis.service);
    // The pause outlasts the wait by far, so only the wait's own end can reject.
    await other.call('CLIENT', 'PAUSE', '60000', 'WRITE');
    await expect(Promise.all([add(), add()])).rejects.toThrow('timed out');
    await other.call('CLIENT', 'UNPAUSE');
    expect(await add()).toBe(3);
    other.disconnect();
  });

  test('go out in parts, so that each is answered in its time', async () => {
    const write = vi.spyOn(redis.client.stream, 'write');
    const answers = await Promise.all(Array.from({ length: 600 }, add));
    expect(answers.at(-1)).toBe(600);
    expect(write).toHaveBeenCalledTimes(5);
    write.mockRestore();
  });

  test('are not asked any more once nobody waits for them: a Redis that stood still finds no heap of them', async () => {
    const other = await connectTo(redis.service);
    await other.call('CLIENT', 'PAUSE', '1800', 'WRITE');
    const first = add();
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    const others = Array.from({ length: 700 }, add);
    const outcomes = await Promise.allSettled([first, ...others]);
    const notAsked = outcomes.filter(
      (each) => each.status === 'rejected' && each.reason instanceof NotAskedError,
    );
    expect(notAsked.length).toBeGreaterThanOrEqual(700 - 2 * 256);
    await other.call('CLIENT', 'UNPAUSE');
    expect(await add()).toBe(outcomes.length - notAsked.length + 1);
    other.disconnect();
  });
});
