import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { json, mp4, oneByOne } from '../support/fake-video-provider.ts';
import { HOLD, ORDER, workerWorld } from './worker-world.ts';

const working = json(200, { id: 'job-1', status: 'in_progress' });
const completed = (usage: unknown) => json(200, { id: 'job-1', status: 'completed', usage });

test('a video is sent once as it was ordered, fetched, kept and then charged what it cost', async () => {
  await using world = await workerWorld();
  const { fake, files, memory } = world;
  fake.on.poll = oneByOne(working, working, completed({ cost: 0.5 }));
  const { orderFile } = await world.order();
  let heldWhileWritten = 0n;
  files.onWrite = async () => {
    heldWhileWritten = await world.held();
  };
  await world.startWorker();
  await world.until(async () => (await world.ending()) !== 'open');

  expect(fake.posts()).toBe(1);
  expect(fake.bodies[0]).toBe(ORDER);
  expect(fake.headers[0]).toMatchObject({ authorization: 'Bearer sk-upstream' });
  const { end } = await world.job();
  const file = mp4(1_000);
  expect(end).toMatchObject({
    chargedNanoUsd: 500_000_000n,
    errorCode: null,
    file: { bytes: 1_000, sha256: createHash('sha256').update(file).digest('hex') },
  });
  expect(files.kept.get(end?.file?.path ?? '')).toEqual(file);
  expect(end?.file?.path).toMatch(/^videos\/20\d{6}T\d\d\/1\/vid_0{19}1\.mp4$/);
  expect(files.kept.has(orderFile), 'the order').toBe(false);
  expect(heldWhileWritten, 'nothing is charged before the file is kept').toBe(HOLD);
  expect(await world.held()).toBe(0n);
  expect(world.heard.ended).toEqual(['made 500000000 0 500000000 -']);
  expect(memory.journal.map(({ type }) => type).slice(-4)).toEqual([
    'reserved',
    'video_claimed',
    'video_submitted',
    'settled',
  ]);
});

test('a new video is begun at once when the worker is told of it', async () => {
  await using world = await workerWorld();
  const worker = await world.startWorker();
  const { videoId } = await world.order();
  await worker.watch(1, videoId);
  await world.passes(0);
  expect(world.fake.posts()).toBe(1);
});

describe('what it is charged', () => {
  test.each([
    ['a cost above the hold is the operator’s loss', { cost: 3 }, `made ${HOLD} 1000000000 3000000000 -`],
    ['a cost that nobody tells is the estimate', undefined, `made ${HOLD} 0 0 price_estimated`],
    ['a negative cost is none', { cost: -1 }, `made ${HOLD} 0 0 price_estimated`],
    ['a cost that is no number is none', { cost: '0.5' }, `made ${HOLD} 0 0 price_estimated`],
    [
      'a router’s fee is not the vendor’s bill',
      { cost: 0.01, is_byok: true },
      `made ${HOLD} 0 0 price_estimated`,
    ],
    ['an explicit zero stays zero', { cost: 0 }, 'made 0 0 0 -'],
    ['a fraction of a nano-dollar is rounded up', { cost: 1e-10 }, 'made 1 0 1 -'],
  ])('%s', async (_, usage, ended) => {
    await using world = await workerWorld();
    world.fake.on.poll = completed(usage);
    await world.order();
    await world.startWorker();
    await world.until(() => world.heard.ended.length > 0);
    expect(world.heard.ended).toEqual([ended]);
  });

  test('a cost that comes late is waited for', async () => {
    await using world = await workerWorld();
    world.fake.on.poll = oneByOne(completed(undefined), completed(null), completed({ cost: 0.25 }));
    await world.order();
    await world.startWorker();
    await world.until(() => world.heard.ended.length > 0);
    expect(world.heard.ended).toEqual(['made 250000000 0 250000000 -']);
  });

  test('the operator’s margin is part of it', async () => {
    await using world = await workerWorld();
    if (world.known.provider !== undefined)
      world.known.provider = { ...world.known.provider, priceFactorPpm: 1_500_000n };
    await world.order();
    await world.startWorker();
    await world.until(() => world.heard.ended.length > 0);
    expect(world.heard.ended).toEqual(['made 750000000 0 750000000 -']);
  });
});

describe('a video that fails is charged nothing', () => {
  test.each([
    ['policy', 'Blocked by our content policy: a secret garden', 'content_refused'],
    ['moderation in an object', { message: 'moderation_blocked' }, 'content_refused'],
    ['anything else', 'GPU on fire', 'generation_failed'],
    ['no reason', undefined, 'generation_failed'],
  ])('%s', async (_, error, code) => {
    await using world = await workerWorld();
    world.fake.on.poll = json(200, { id: 'job-1', status: 'failed', error });
    const { orderFile } = await world.order();
    await world.startWorker();
    await world.until(() => world.heard.ended.length > 0);
    expect(world.heard.ended).toEqual([`${code} 0 0 0 -`]);
    expect(await world.held()).toBe(0n);
    expect(world.files.kept.has(orderFile)).toBe(false);
    expect(JSON.stringify(world.heard.logged) + JSON.stringify(await world.job(), bigints)).not.toContain(
      'garden',
    );
  });

  test.each([
    ['cancelled', 'generation_failed'],
    ['expired', 'timed_out'],
  ])('the provider’s %s', async (status, code) => {
    await using world = await workerWorld();
    world.fake.on.poll = json(200, { id: 'job-1', status });
    await world.order();
    await world.startWorker();
    await world.until(() => world.heard.ended.length > 0);
    expect(world.heard.ended).toEqual([`${code} 0 0 0 -`]);
  });

  test('what the provider bills all the same is the operator’s loss', async () => {
    await using world = await workerWorld();
    world.fake.on.poll = json(200, { id: 'job-1', status: 'failed', usage: { cost: 0.3 } });
    await world.order();
    await world.startWorker();
    await world.until(() => world.heard.ended.length > 0);
    expect(world.heard.ended).toEqual(['generation_failed 0 0 300000000 free_failure']);
  });

  test('the operator’s margin is no part of that loss', async () => {
    await using world = await workerWorld();
    if (world.known.provider !== undefined)
      world.known.provider = { ...world.known.provider, priceFactorPpm: 1_500_000n };
    world.fake.on.poll = json(200, { id: 'job-1', status: 'failed', usage: { cost: 0.3 } });
    await world.order();
    await world.startWorker();
    await world.until(() => world.heard.ended.length > 0);
    expect(world.heard.lostNanoUsd).toEqual([300_000_000n]);
  });

  test('a provider that is silent for hours', async () => {
    await using world = await workerWorld();
    world.fake.on.poll = working;
    await world.order();
    await world.startWorker();
    await world.passes(3.99 * 3_600_000, 60_000);
    expect(await world.ending()).toBe('open');
    await world.passes(120_000, 10_000);
    expect(await world.ending()).toBe('timed_out');
    expect(await world.held()).toBe(0n);
  });

  test('an order that is gone from storage', async () => {
    await using world = await workerWorld();
    await world.order(null);
    await world.startWorker();
    await world.until(() => world.heard.ended.length > 0);
    expect(world.heard.ended).toEqual(['gateway_error 0 0 0 -']);
    expect(world.fake.posts()).toBe(0);
  });
});

describe('what makes no sense is asked again', () => {
  test.each([
    ['no JSON', (_req: unknown, res: import('node:http').ServerResponse) => void res.end('<html>')],
    ['an error', json(500, { error: 'x' })],
    ['our key refused', json(401, { error: 'x' })],
    ['a busy provider', json(429, {})],
    ['the job of another', json(200, { id: 'job-2', status: 'completed', usage: { cost: 0 } })],
    ['no status', json(200, { id: 'job-1' })],
    ['a list', json(200, [])],
    ['an answer without end', endless],
    ['a cut connection', (_req: unknown, res: import('node:http').ServerResponse) => void res.destroy()],
    ['a redirect', json(302, {}, { location: 'http://169.254.169.254/' })],
    ['not found, for a while', json(404, {})],
    ['a word that nobody knows', json(200, { id: 'job-1', status: 'rendering' })],
  ])('%s', async (_, odd) => {
    await using world = await workerWorld();
    world.fake.on.poll = oneByOne(odd, odd, completed({ cost: 0.5 }));
    await world.order();
    await world.startWorker();
    await world.until(() => world.heard.ended.length > 0);
    expect(world.heard.ended).toEqual(['made 500000000 0 500000000 -']);
    expect(world.fake.posts()).toBe(1);
  });

  test('a poll that is never answered', async () => {
    await using world = await workerWorld();
    world.fake.on.poll = oneByOne(() => {}, completed({ cost: 0.5 }));
    await world.order();
    await world.startWorker();
    await world.until(() => world.heard.ended.length > 0, 120_000);
    expect(world.heard.ended).toEqual(['made 500000000 0 500000000 -']);
  });

  test('a job that the provider has lost ends as such', async () => {
    await using world = await workerWorld();
    world.fake.on.poll = json(404, {});
    await world.order();
    await world.startWorker();
    await world.until(() => world.heard.ended.length > 0);
    expect(world.heard.ended).toEqual(['result_unavailable 0 0 0 free_failure']);
  });
});

function endless(_req: unknown, res: import('node:http').ServerResponse): void {
  res.writeHead(200, { 'content-type': 'application/json' });
  const more = () => {
    while (!res.destroyed && res.write(Buffer.alloc(16_384, 32)));
  };
  res.on('drain', more);
  more();
}

const bigints = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
