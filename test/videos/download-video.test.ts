import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { wait } from '#core/clock.ts';
import { type Answer, content, json, mp4, oneByOne } from '../support/fake-video-provider.ts';
import { workerWorld } from './worker-world.ts';

const FILE = mp4(300_000);
const MADE = 'made 500000000 0 500000000 -';
const LOST = 'result_unavailable 0 0 500000000 free_failure';
const ETAG = { etag: '"v1"' };

/** Sends so many bytes of the whole and hangs up. */
const cutAt =
  (bytes: number, headers: Record<string, string> = {}): Answer =>
  (_req, res) => {
    res.writeHead(200, { 'content-type': 'video/mp4', 'content-length': String(FILE.length), ...headers });
    res.write(FILE.subarray(0, bytes), () => setImmediate(() => res.destroy()));
  };

/** Keeps to ranges, as long as what is asked for is what it has. */
const ranged =
  (etag: string, cut = Number.POSITIVE_INFINITY): Answer =>
  (req, res) => {
    const from = Number(/^bytes=(\d+)-$/.exec(req.headers.range ?? '')?.[1] ?? Number.NaN);
    if (Number.isNaN(from) || req.headers['if-range'] !== etag) return cutAt(cut, { etag })(req, res, 0);
    res.writeHead(206, {
      'content-type': 'video/mp4',
      'content-length': String(FILE.length - from),
      'content-range': `bytes ${from}-${FILE.length - 1}/${FILE.length}`,
      etag,
    });
    if (FILE.length - from <= cut) res.end(FILE.subarray(from));
    else res.write(FILE.subarray(from, from + cut), () => setImmediate(() => res.destroy()));
  };

async function ends(answer: Answer) {
  await using world = await workerWorld();
  world.fake.on.content = answer;
  await world.order();
  await world.startWorker();
  await world.until(() => world.heard.ended.length > 0, 3 * 3_600_000);
  const { end } = await world.job();
  const kept = [...world.files.kept].filter(([path]) => path.startsWith('videos/')).map(([, file]) => file);
  const contents = world.fake.requests.filter((each) => each.includes('content'));
  const ranges = world.fake.headers.map(({ range }) => range).filter((range) => range !== undefined);
  return { ended: world.heard.ended, end, kept, contents, ranges };
}

describe('a download that is cut', () => {
  test('goes on where it stopped, however often, and the checksum is right', async () => {
    const { ended, end, kept, ranges } = await ends(ranged('"v1"', 70_000));
    expect(ended).toEqual([MADE]);
    expect(kept).toEqual([FILE]);
    expect(end?.file?.sha256).toBe(createHash('sha256').update(FILE).digest('hex'));
    expect(ranges).toEqual(['bytes=70000-', 'bytes=140000-', 'bytes=210000-', 'bytes=280000-']);
  });

  test.each<[string, Answer]>([
    [
      'from a provider without ranges',
      oneByOne(cutAt(70_000, ETAG), content(FILE, ETAG), content(FILE, ETAG)),
    ],
    ['from a provider that names no version', oneByOne(cutAt(70_000), content(FILE))],
    ['from a provider with a weak name', oneByOne(cutAt(70_000, { etag: 'W/"v1"' }), content(FILE))],
    ['of a file that has changed', oneByOne(ranged('"v1"', 70_000), ranged('"v2"'), ranged('"v2"'))],
    ['before its first bytes', oneByOne(cutAt(3, ETAG), content(FILE, ETAG))],
    [
      'with a rest that begins elsewhere',
      oneByOne(cutAt(70_000, ETAG), restFrom(60_000), content(FILE, ETAG)),
    ],
    [
      'with the rest of another version',
      oneByOne(
        cutAt(70_000, ETAG),
        (_req, res) =>
          void res
            .writeHead(206, {
              'content-type': 'video/mp4',
              'content-range': `bytes 70000-${FILE.length - 1}/${FILE.length}`,
              etag: '"v2"',
            })
            .end(Buffer.alloc(FILE.length - 70_000, 'y')),
        content(FILE, { etag: '"v2"' }),
      ),
    ],
    [
      'with a rest that ends early',
      oneByOne(
        cutAt(70_000, ETAG),
        (_req, res) =>
          void res
            .writeHead(206, {
              'content-type': 'video/mp4',
              'content-range': 'bytes 70000-80000/80001',
              ...ETAG,
            })
            .end(FILE.subarray(70_000, 80_001)),
        content(FILE, ETAG),
      ),
    ],
  ])('%s begins anew', async (_, answer) => {
    const { ended, kept } = await ends(answer);
    expect(ended).toEqual([MADE]);
    expect(kept).toEqual([FILE]);
  });

  test('by silence goes on, too', async () => {
    const stalls: Answer = (_req, res) => {
      res.writeHead(200, { 'content-type': 'video/mp4', 'content-length': String(FILE.length), ...ETAG });
      res.write(FILE.subarray(0, 50_000));
    };
    const { ended, kept, ranges } = await ends(oneByOne(stalls, ranged('"v1"')));
    expect(ended).toEqual([MADE]);
    expect(kept).toEqual([FILE]);
    expect(ranges).toEqual(['bytes=50000-']);
  });

  test('each time is given up, free, after a bounded number of tries', async () => {
    const { ended, kept, contents } = await ends(cutAt(70_000));
    expect(ended).toEqual([LOST]);
    expect(kept).toEqual([]);
    expect(contents).toHaveLength(20);
  });

  test('and whose length nobody says has to be marked as whole', async () => {
    const closing = (_req: IncomingMessage, res: ServerResponse) => {
      res.socket?.end(
        Buffer.concat([
          Buffer.from('HTTP/1.1 200 OK\r\ncontent-type: video/mp4\r\nconnection: close\r\n\r\n'),
          FILE.subarray(0, 70_000),
        ]),
      );
    };
    const chunked: Answer = (_req, res) => void res.writeHead(200, { 'content-type': 'video/mp4' }).end(FILE);
    const { ended, kept } = await ends(oneByOne(closing, chunked));
    expect(ended).toEqual([MADE]);
    expect(kept).toEqual([FILE]);
  });
});

function restFrom(byte: number): Answer {
  return (_req, res) =>
    void res
      .writeHead(206, {
        'content-type': 'video/mp4',
        'content-range': `bytes ${byte}-${FILE.length - 1}/${FILE.length}`,
        ...ETAG,
      })
      .end(FILE.subarray(byte));
}

describe('a result that is no video of ours to keep', () => {
  test.each<[string, Answer]>([
    [
      'declares 20 GB',
      (_req, res) => {
        res.writeHead(200, { 'content-type': 'video/mp4', 'content-length': String(20 * 1024 ** 3) });
        res.write(FILE);
      },
    ],
    ['is of another type', (_req, res) => void res.writeHead(200, { 'content-type': 'text/html' }).end(FILE)],
    ['is of no type', (_req, res) => void res.writeHead(200).end(FILE)],
    ['is no MP4 inside', content(Buffer.alloc(1_000, 'x'))],
    ['is empty', content(Buffer.alloc(0))],
    ['is four bytes', content(Buffer.alloc(4))],
  ])('%s', async (_, answer) => {
    const { ended, kept, contents } = await ends(answer);
    expect(ended).toEqual([LOST]);
    expect(kept).toEqual([]);
    expect(contents).toHaveLength(1);
  });
});

test.each([404, 410])(
  'a link that has ended between poll and download (%i) is tried for, then given up',
  async (status) => {
    expect((await ends(json(status, {}))).ended).toEqual([LOST]);
  },
);

test.each<[string, Answer]>([
  ['an error', json(503, {})],
  ['our key refused', json(401, {})],
  ['a redirect', json(302, {}, { location: 'http://169.254.169.254/' })],
  ['gone for a moment', json(404, {})],
  ['a cut before the answer', (_req, res) => void res.destroy()],
])('%s is tried again', async (_, odd) => {
  const { ended, kept, contents } = await ends(oneByOne(odd, odd, content(FILE)));
  expect(ended).toEqual([MADE]);
  expect(kept).toEqual([FILE]);
  expect(contents).toHaveLength(3);
});

test('the key of the provider goes with the download', async () => {
  await using world = await workerWorld();
  await world.order();
  await world.startWorker();
  await world.until(() => world.heard.ended.length > 0);
  const at = world.fake.requests.indexOf('GET /videos/job-1/content?index=0');
  expect(world.fake.headers[at]).toMatchObject({ authorization: 'Bearer sk-upstream' });
});

test('storage that is down for an hour costs nobody the video', async () => {
  await using world = await workerWorld();
  await world.order();
  await world.startWorker();
  world.fake.on.content = (req, res, count) => {
    world.files.down = true;
    content(FILE)(req, res, count);
  };
  world.files.onWrite = async () => {
    if (world.files.down) throw new Error('no space left on the device');
  };
  await world.passes(3_600_000, 30_000);
  expect(await world.ending()).toBe('open');
  world.files.down = false;
  world.fake.on.content = content(FILE);
  await world.until(() => world.heard.ended.length > 0);
  expect(world.heard.ended).toEqual([MADE]);
});

test('nor does a single cut after it', async () => {
  await using world = await workerWorld();
  await world.order();
  world.files.onWrite = async () => {
    throw new Error('no space left on the device');
  };
  await world.startWorker();
  await world.passes(3_600_000, 30_000);
  world.files.onWrite = async () => {};
  world.fake.on.content = oneByOne((_req, res) => void res.destroy(), content(FILE));
  await world.until(() => world.heard.ended.length > 0);
  expect(world.heard.ended).toEqual([MADE]);
});

test('storage that stays down ends it before its hold is an orphan', async () => {
  await using world = await workerWorld();
  await world.order();
  world.files.onWrite = async () => {
    throw new Error('no space left on the device');
  };
  await world.startWorker();
  await world.passes(5 * 3_600_000 + 120_000, 60_000);
  expect(world.heard.ended).toEqual(['gateway_error 0 0 500000000 free_failure']);
  expect(await world.held()).toBe(0n);
});

test('storage that takes a minute for each piece is no silence of the provider', async () => {
  await using world = await workerWorld();
  const { write } = world.files;
  world.files.write = (name, chunks) =>
    write(
      name,
      slowly(chunks, () => wait(world.clock, 60_000)),
    );
  world.fake.on.content = content(FILE);
  await world.order();
  await world.startWorker();
  await world.until(() => world.heard.ended.length > 0);
  expect(world.heard.ended).toEqual([MADE]);
  expect(world.fake.requests.filter((each) => each.includes('content'))).toHaveLength(1);
});

async function* slowly(chunks: AsyncIterable<Uint8Array>, pause: () => Promise<void>) {
  for await (const chunk of chunks) {
    await pause();
    yield chunk;
  }
}

test('no more than four are fetched at once', async () => {
  await using world = await workerWorld();
  let open = 0;
  let most = 0;
  const waiting: (() => void)[] = [];
  world.fake.on.post = (req, res, count) => json(202, { id: `job-${count}` })(req, res, count);
  world.fake.on.poll = (req, res, count) =>
    json(200, { id: req.url?.split('/').at(-1), status: 'completed', usage: { cost: 0.1 } })(req, res, count);
  world.fake.on.content = (req, res, count) => {
    most = Math.max(most, ++open);
    waiting.push(() => {
      open--;
      content(FILE)(req, res, count);
    });
  };
  for (let i = 0; i < 10; i++) await world.order();
  await world.startWorker();
  for (let i = 0; i < 10; i++) {
    await world.until(() => waiting.length > 0);
    waiting.shift()?.();
  }
  await world.until(() => world.heard.ended.length === 10);
  expect(most).toBe(4);
});
