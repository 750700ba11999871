import { expect, it } from 'vitest';
import type { FetchedImage } from '../../../api/inference/linked-images/fetch-image.ts';
import { dialects } from '../../../api/providers/openai/dialects.ts';
import { answerText, ask, png, settled, startWorld } from './image-world.ts';

const images = [png(900), png(901), png(902)];

it.each([
  ['reads slowly', 'reads on'],
  ['reads slowly, until the process that ends closes its connection', 'is cut'],
])('images that the end of a process cuts are free for a caller who %s', async (_, then) => {
  const world = await startWorld();
  world.confirm('durable');
  const running = world.start(ask({ n: 4, response_format: 'b64_json' }));
  world.res.flowing = false;
  void world.reply(answerText(images, null).slice(0, -2), { part: true });
  await settled(20);
  expect(world.openCalls.endAll()).toBe(1);
  await settled(20);
  if (then === 'is cut') world.res.hangUp();
  else {
    world.res.flowing = true;
    world.res.emit('drain');
  }
  await running;
  expect(world.events('settled')).toMatchObject([{ end: { outcome: expect.any(String) } }]);
  // Nothing is left to be priced by the provider's record either.
  expect(world.events('finished')).toEqual([]);
  const { chargedNanoUsd, holds } = await world.view();
  expect(chargedNanoUsd).toBe(0n);
  expect(holds).toEqual([]);
});

it('a reference that is being fetched is not waited for by a call that the end of a process cuts, and no provider is blamed', async () => {
  const world = await startWorld({ given: { dialect: dialects.vllm } });
  world.confirm('durable');
  const fetched = Promise.withResolvers<FetchedImage>();
  world.gateway.fetchImage = () => fetched.promise;
  const reference = { type: 'image_url', image_url: { url: 'https://images.example.com/cat.png' } };
  const running = world.start(ask({ input_references: [reference] }));
  await settled(20);
  expect(world.openCalls.endAll()).toBe(1);
  expect(await running).toMatchObject({ code: 'gateway_unavailable' });
  expect([world.upstreams.requests, world.warnings]).toEqual([[], []]);
  expect((await world.view()).holds).toEqual([]);
  fetched.resolve({ ok: false, words: 'could not be fetched' });
});
