import { expect, test } from 'vitest';
import { json, oneByOne } from '../support/fake-video-provider.ts';
import { workerWorld } from './worker-world.ts';

// Each process dies once, in the middle of something; the next one has only the ledger and storage to go by.

const working = json(200, { id: 'job-1', status: 'in_progress' });
const done = json(200, { id: 'job-1', status: 'completed', usage: { cost: 0.5 } });

test('killed after the claim, before it is sent: unknown, free, and nothing is ever sent', async () => {
  await using world = await workerWorld();
  await world.order();
  await world.startWorker({ diesAfter: 'claim_video' });
  await world.passes(5_000);
  expect(world.fake.posts()).toBe(0);
  await world.startWorker();
  await world.passes(60_000);
  expect(world.fake.posts()).toBe(0);
  expect(world.heard.ended).toEqual(['submission_unknown 0 0 0 free_failure']);
  expect(await world.held()).toBe(0n);
});

test('killed after it was sent, before the answer is noted: unknown, free, and never a second job', async () => {
  await using world = await workerWorld();
  await world.order();
  const worker = await world.startWorker();
  world.fake.on.post = (req, res, count) => {
    world.kill(worker);
    json(202, { id: 'job-1', status: 'pending' })(req, res, count);
  };
  await world.passes(5_000);
  expect(world.fake.posts()).toBe(1);
  await world.startWorker();
  await world.passes(60_000);
  expect(world.fake.posts()).toBe(1);
  expect(world.heard.ended).toEqual(['submission_unknown 0 0 0 free_failure']);
  expect(await world.held()).toBe(0n);
});

test('killed between submission and poll: the video is made', async () => {
  await using world = await workerWorld();
  await world.order();
  await world.startWorker({ diesAfter: 'submit_video' });
  await world.passes(5_000);
  await world.startWorker();
  await world.until(() => world.heard.ended.length > 0);
  expect(world.fake.posts()).toBe(1);
  expect(await world.ending()).toBe('made');
});

test('killed while it polls: the video is made', async () => {
  await using world = await workerWorld();
  await world.order();
  const worker = await world.startWorker();
  world.fake.on.poll = oneByOne(
    (req, res, count) => {
      world.kill(worker);
      working(req, res, count);
    },
    working,
    done,
  );
  await world.passes(5_000);
  await world.startWorker();
  await world.until(() => world.heard.ended.length > 0);
  expect(world.fake.posts()).toBe(1);
  expect(await world.ending()).toBe('made');
});

test('killed in the download, before anything is charged: fetched again', async () => {
  await using world = await workerWorld();
  await world.order();
  const worker = await world.startWorker();
  world.files.onWrite = async () => {
    world.kill(worker);
    world.files.onWrite = async () => {};
  };
  await world.passes(20_000);
  expect(await world.ending()).toBe('open');
  await world.startWorker();
  await world.until(() => world.heard.ended.length > 0);
  expect(world.fake.posts()).toBe(1);
  expect((await world.job()).end).toMatchObject({ chargedNanoUsd: 500_000_000n, errorCode: null });
});

test('killed after the settle: charged once, nothing is left to do', async () => {
  await using world = await workerWorld();
  await world.order();
  await world.startWorker({ diesAfter: 'settle' });
  await world.until(async () => (await world.ending()) !== 'open');
  const second = await world.startWorker();
  await world.passes(60_000);
  expect(second.open).toBe(0);
  expect(world.fake.posts()).toBe(1);
  const agent = await world.memory.readAgent(1);
  expect(agent).toMatchObject({ chargedNanoUsd: 500_000_000n });
});

test('two workers at once send it once and charge it once', async () => {
  await using world = await workerWorld();
  world.fake.on.poll = oneByOne(working, working, working, done);
  for (let i = 0; i < 10; i++) await world.order();
  // Each job has an id of its own here.
  world.fake.on.post = (req, res, count) =>
    json(202, { id: `job-${count}`, status: 'pending' })(req, res, count);
  world.fake.on.poll = (req, res, count) =>
    json(200, { id: req.url?.split('/').at(-1), status: 'completed', usage: { cost: 0.1 } })(req, res, count);
  await Promise.all([
    world.startWorker({ claimGraceMs: 120_000 }),
    world.startWorker({ claimGraceMs: 120_000 }),
  ]);
  await world.until(async () => (await world.held()) === 0n);
  await world.passes(30_000);
  expect(world.fake.posts()).toBe(10);
  expect(world.heard.ended).toEqual(Array(10).fill('made 100000000 0 100000000 -'));
});

test('another process’ claim is left alone for two minutes, then its video ends as unknown', async () => {
  await using world = await workerWorld();
  await world.order();
  await world.startWorker({ diesAfter: 'claim_video' });
  await world.passes(2_000);
  await world.startWorker({ claimGraceMs: 120_000 });
  await world.passes(110_000);
  expect(await world.ending()).toBe('open');
  await world.passes(20_000);
  expect(await world.ending()).toBe('submission_unknown');
  expect(world.fake.posts()).toBe(0);
});

test('a shard that is away keeps no video of another waiting, and its own are neither taken up nor dropped', async () => {
  await using world = await workerWorld();
  const { memory } = world;
  await world.order();
  let away = false;
  const shard = (first: boolean) => ({
    has: () => first,
    async listOpenVideos() {
      if (away === first) return 'unavailable' as const;
      return first ? memory.listOpenVideos() : [];
    },
  });
  // The one that has no videos is away, then the one that has.
  const worker = await world.startWorker({ shards: [shard(true), shard(false)] });
  await world.until(() => worker.open === 1 && world.fake.posts() === 1);
  away = true;
  world.fake.on.poll = json(200, { id: 'job-1', status: 'in_progress' });
  await world.passes(30_000);
  expect(worker.open).toBe(1);
});
