import { describe, expect, test } from 'vitest';
import { VIDEO_LARGE_ORDER_BYTES } from '../../workers/video/submit-video.ts';
import { type Answer, json, oneByOne } from '../support/fake-video-provider.ts';
import { type Fault, workerWorld } from './worker-world.ts';

const taken = json(202, { id: 'job-1', status: 'pending' });
const UNKNOWN = 'submission_unknown 0 0 0 free_failure';

describe('an order whose answer says nothing for sure is never sent again', () => {
  test.each<[string, Answer]>([
    ['no answer', () => {}],
    ['cut before the answer', (_req, res) => void res.destroy()],
    [
      'cut in the answer',
      (_req, res) => {
        res.writeHead(202, { 'content-length': '100' });
        res.write('{"id":');
        setImmediate(() => res.destroy());
      },
    ],
    ['500', json(500, { error: {} })],
    ['502', json(502, {})],
    ['504', json(504, {})],
    ['503 of a proxy', (_req, res) => void res.writeHead(503).end('upstream connect error')],
    ['408', json(408, {})],
    ['409', json(409, {})],
    ['success without an id', json(202, { status: 'pending' })],
    ['success with an id that leads elsewhere', json(202, { id: '../../models' })],
    ['success that is no JSON', (_req, res) => void res.writeHead(202).end('ok')],
    [
      'success without end',
      (_req, res) => {
        res.writeHead(202);
        const more = () => {
          while (!res.destroyed && res.write(Buffer.alloc(16_384, 32)));
        };
        res.on('drain', more);
        more();
      },
    ],
  ])('%s', async (_, answer) => {
    await using world = await workerWorld();
    world.fake.on.post = answer;
    await world.order();
    await world.startWorker();
    await world.until(() => world.heard.ended.length > 0, 120_000);
    await world.passes(60_000, 5_000);
    expect(world.heard.ended).toEqual([UNKNOWN]);
    expect(world.fake.posts()).toBe(1);
    expect(await world.held()).toBe(0n);
  });
});

describe('an order that the provider refuses fails at once, free', () => {
  test.each<[number, unknown, string]>([
    [400, { error: { message: 'Invalid image' } }, 'invalid_input'],
    [400, { error: { message: 'Your prompt violates our policy' } }, 'content_refused'],
    [404, { error: { message: 'no such model' } }, 'invalid_input'],
    [413, {}, 'invalid_input'],
    [422, { error: { message: 'duration' } }, 'invalid_input'],
    [403, { error: { message: 'Your input was flagged' } }, 'content_refused'],
    [403, { error: { message: 'key disabled' } }, 'provider_unavailable'],
    [401, { error: { message: 'bad key sk-upstream' } }, 'provider_unavailable'],
    [402, { error: { message: 'out of credit' } }, 'provider_unavailable'],
    [451, {}, 'content_refused'],
    [307, {}, 'provider_unavailable'],
  ])('%i %j: %s', async (status, body, code) => {
    await using world = await workerWorld();
    world.fake.on.post = json(status, body, { location: 'http://169.254.169.254/' });
    await world.order();
    await world.startWorker();
    await world.until(() => world.heard.ended.length > 0);
    expect(world.heard.ended).toEqual([`${code} 0 0 0 -`]);
    expect(world.fake.requests).toEqual(['POST /videos']);
    expect(world.heard.logged.join()).not.toContain('sk-upstream');
  });
});

describe('an order that surely was not taken is sent again, later', () => {
  test.each<[string, Answer]>([
    ['429', json(429, {})],
    ['503 that says when', json(503, {}, { 'retry-after': '5' })],
    ['503 with an error of its own', json(503, { error: { message: 'overloaded' } })],
  ])('%s', async (_, busy) => {
    await using world = await workerWorld();
    world.fake.on.post = oneByOne(busy, busy, taken);
    await world.order();
    await world.startWorker();
    await world.until(() => world.heard.ended.length > 0);
    expect(world.heard.ended).toEqual(['made 500000000 0 500000000 -']);
    expect(world.fake.posts()).toBe(3);
    expect(world.memory.journal.filter(({ type }) => type === 'video_withdrawn')).toHaveLength(2);
  });

  test('no connection', async () => {
    await using world = await workerWorld();
    const reachable = world.known.provider;
    if (reachable === undefined) throw new Error('no provider');
    world.known.provider = { ...reachable, baseUrl: 'http://127.0.0.1:1/api/v1' };
    await world.order();
    await world.startWorker();
    await world.passes(20_000);
    expect(await world.ending()).toBe('open');
    world.known.provider = reachable;
    await world.until(() => world.heard.ended.length > 0);
    expect(world.heard.ended).toEqual(['made 500000000 0 500000000 -']);
    expect(world.fake.posts()).toBe(1);
  });

  test('a provider that is busy for a quarter of an hour is given up', async () => {
    await using world = await workerWorld();
    world.fake.on.post = json(429, {});
    await world.order();
    await world.startWorker();
    await world.passes(14 * 60_000, 10_000);
    expect(await world.ending()).toBe('open');
    await world.passes(3 * 60_000, 10_000);
    expect(world.heard.ended).toEqual(['provider_unavailable 0 0 0 -']);
    expect(world.fake.posts()).toBeLessThan(25);
  });

  test('a key that the provider refuses is tried by one order, and the next one waits until the cooldown is over', async () => {
    await using world = await workerWorld();
    world.fake.on.post = oneByOne(json(401, {}), taken);
    await world.order();
    await world.startWorker();
    await world.passes(500, 250);
    expect(world.heard.ended).toEqual(['provider_unavailable 0 0 0 -']);
    await world.order();
    await world.passes(1_000, 250);
    expect(world.fake.posts()).toBe(1);
    await world.passes(20_000, 250);
    expect(world.fake.posts()).toBe(2);
  });

  test.each(['stopped', 'taken away'])('a provider that the operator has %s is given up', async (how) => {
    await using world = await workerWorld();
    const { provider } = world.known;
    world.known.provider =
      how === 'stopped' && provider !== undefined ? { ...provider, stopped: true } : undefined;
    await world.order();
    await world.startWorker();
    await world.passes(17 * 60_000, 10_000);
    expect(world.heard.ended).toEqual(['provider_unavailable 0 0 0 -']);
    expect(world.fake.posts()).toBe(0);
  });

  test('storage that is down is waited for, as long', async () => {
    await using world = await workerWorld();
    world.files.down = true;
    await world.order();
    await world.startWorker();
    await world.passes(60_000);
    expect(await world.ending()).toBe('open');
    world.files.down = false;
    await world.until(() => world.heard.ended.length > 0);
    expect(world.heard.ended).toEqual(['made 500000000 0 500000000 -']);
  });
});

describe('a journal that fails costs no second job and no second charge', () => {
  const kinds = ['claim_video', 'submit_video', 'settle'] as const;
  const faults: Fault[] = ['unknown', 'lost', 'throws'];
  test.each(kinds.flatMap((kind) => faults.map((fault) => [kind, fault] as const)))(
    '%s: %s, three times',
    async (kind, fault) => {
      await using world = await workerWorld();
      world.faults.push(...Array(3).fill({ command: kind, fault }));
      await world.order();
      await world.startWorker();
      await world.until(async () => (await world.held()) === 0n);
      await world.passes(60_000, 5_000);
      expect(world.fake.posts()).toBe(1);
      expect(await world.ending()).toBe('made');
      expect(await world.memory.readAgent(1)).toMatchObject({ chargedNanoUsd: 500_000_000n });
      expect(world.heard.ended).toEqual(['made 500000000 0 500000000 -']);
    },
  );

  test.each(faults)('withdraw_video: %s', async (fault) => {
    await using world = await workerWorld();
    world.fake.on.post = oneByOne(json(429, {}), taken);
    world.faults.push(...Array(3).fill({ command: 'withdraw_video', fault }));
    await world.order();
    await world.startWorker();
    await world.until(() => world.heard.ended.length > 0);
    expect(world.fake.posts()).toBe(2);
    expect(await world.ending()).toBe('made');
  });

  test('nothing is sent before its claim is in the journal', async () => {
    await using world = await workerWorld();
    world.faults.push(...Array(1_000).fill({ command: 'claim_video', fault: 'unknown' }));
    await world.order();
    await world.startWorker();
    await world.passes(60_000);
    expect(world.fake.posts()).toBe(0);
  });

  test('nothing is asked of the provider before its job is in the journal', async () => {
    await using world = await workerWorld();
    world.faults.push(...Array(1_000).fill({ command: 'submit_video', fault: 'unknown' }));
    await world.order();
    await world.startWorker();
    await world.passes(60_000);
    expect(world.fake.requests).toEqual(['POST /videos']);
  });
});

test('an end of the process waits for the answer to what is being sent', async () => {
  await using world = await workerWorld();
  let answer = () => {};
  world.fake.on.post = (req, res, count) => {
    answer = () => taken(req, res, count);
  };
  await world.order();
  const worker = await world.startWorker();
  await world.passes(1_000);
  expect(world.fake.posts()).toBe(1);
  const stopped = worker.stop(60_000);
  await world.passes(5_000);
  answer();
  await world.passes(1_000);
  await stopped;
  expect((await world.job()).submitted).toMatchObject({ providerJobId: 'job-1' });
  await world.startWorker();
  await world.until(() => world.heard.ended.length > 0);
  expect(await world.ending()).toBe('made');
  expect(world.fake.posts()).toBe(1);
});

test('an end of the process that may not wait leaves it unknown', async () => {
  await using world = await workerWorld();
  world.fake.on.post = () => {};
  await world.order();
  const worker = await world.startWorker();
  await world.passes(1_000);
  const stopped = worker.stop(0);
  await world.passes(1_000);
  await stopped;
  expect(world.heard.ended).toEqual([UNKNOWN]);
});

describe('a list of open videos that is older than what the worker knows changes nothing', () => {
  /** The next list is answered when the test says so. */
  function hold(listing: { answered: Promise<void> }): () => void {
    let release = () => {};
    listing.answered = new Promise((resolve) => {
      release = resolve;
    });
    return () => release();
  }

  test('of a claim that has been withdrawn', async () => {
    await using world = await workerWorld();
    let refuse = () => {};
    const busy: Answer = (req, res, count) => {
      refuse = () => json(429, {})(req, res, count);
    };
    world.fake.on.post = oneByOne(busy, taken);
    await world.order();
    await world.startWorker();
    await world.passes(1_000);
    const release = hold(world.listing);
    await world.passes(6_000);
    refuse();
    await world.passes(1_000);
    release();
    await world.until(() => world.heard.ended.length > 0);
    expect(world.heard.ended).toEqual(['made 500000000 0 500000000 -']);
    expect(world.fake.posts()).toBe(2);
  });

  test('of a video that has ended', async () => {
    await using world = await workerWorld();
    world.fake.on.poll = json(200, { id: 'job-1', status: 'in_progress' });
    await world.order();
    const worker = await world.startWorker();
    await world.passes(4_000);
    const release = hold(world.listing);
    await world.passes(2_000);
    world.fake.on.poll = json(200, { id: 'job-1', status: 'completed', usage: { cost: 0.5 } });
    await world.until(() => world.heard.ended.length > 0);
    const { length } = world.fake.requests;
    release();
    await world.passes(1_000);
    expect(worker.open).toBe(0);
    await world.passes(30_000);
    expect(world.fake.requests).toHaveLength(length);
  });
});

test('a claim that may be in the journal is seen through, though the video is given to another worker', async () => {
  await using world = await workerWorld();
  let isOurs: boolean = true;
  world.faults.push(...Array(3).fill({ command: 'claim_video', fault: 'unknown' }));
  await world.order();
  await world.startWorker({ isOurs: () => isOurs });
  await world.passes(1_000);
  isOurs = false;
  await world.startWorker({ claimGraceMs: 120_000 });
  await world.until(() => world.heard.ended.length > 0);
  expect(world.heard.ended).toEqual(['made 500000000 0 500000000 -']);
  expect(world.fake.posts()).toBe(1);
});

test('of orders with large images two are in memory at one time, and small ones pass them', async () => {
  await using world = await workerWorld();
  const waiting: (() => void)[] = [];
  world.fake.on.post = (req, res, count) => {
    waiting.push(() => json(202, { id: `job-${count}` })(req, res, count));
  };
  const large = 'x'.repeat(VIDEO_LARGE_ORDER_BYTES + 1);
  for (let i = 0; i < 5; i++) await world.order(large);
  await world.order();
  await world.startWorker();
  await world.until(() => world.fake.posts() === 3);
  await world.passes(5_000);
  expect(world.fake.posts()).toBe(3);
  expect(world.fake.bodies.filter((body) => body === large)).toHaveLength(2);
  for (let i = 0; i < 6; i++) {
    await world.until(() => waiting.length > 0);
    waiting.shift()?.();
  }
  await world.until(() => world.fake.posts() === 6);
});

test('an order that was still being read when the end began is left to the next process, which sends it', async () => {
  await using world = await workerWorld();
  world.fake.on.post = taken;
  const reading = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const { read } = world.files;
  world.files.read = async (...asked) => {
    reading.resolve();
    await goOn.promise;
    return read(...asked);
  };
  await world.order();
  const worker = await world.startWorker();
  await reading.promise;
  const stopped = worker.stop(60_000);
  goOn.resolve();
  await stopped;
  expect([world.fake.posts(), world.executed.includes('claim_video')]).toEqual([0, false]);

  await world.startWorker();
  await world.until(() => world.fake.posts() === 1, 60_000);
  expect(world.heard.ended).toEqual([]);
});
