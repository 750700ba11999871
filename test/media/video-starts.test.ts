import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DAY_MS } from '#core/clock.ts';
import { type FileName, formatFileName, hourOf } from '#core/files/file-name.ts';
import { StorageFullError } from '#core/files/file-store.ts';
import { randomBase62 } from '#core/ids.ts';
import { UPLOAD_LINK_MS } from '#core/limits.ts';
import { unavailableLedger } from '../support/unavailable-ledger.ts';
import { endVideo, submitVideo } from './end-video.ts';
import { frame, order, reference } from './video-models.ts';
import { AGENT, startVideoWorld, type VideoWorld, type VideoWorldOptions } from './video-world.ts';

let world: VideoWorld;
const restart = async (options: VideoWorldOptions) => {
  await world[Symbol.asyncDispose]();
  world = await startVideoWorld(options);
};
beforeEach(async () => {
  world = await startVideoWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

const send = async (body: object, headers: Record<string, string> = {}) => {
  const res = await world.order(body, headers);
  return { status: res.status, headers: res.headers, body: JSON.parse(await res.text()) };
};

async function expectNothing(held = 0): Promise<void> {
  expect((await world.view()).holds).toHaveLength(held);
  expect(await world.stored('orders')).toHaveLength(held);
  expect(world.capacity.heldNanoUsd).toBe(0n);
}

describe('an order that money or room refuse holds nothing and leaves no file', () => {
  it('of an agent without enough credit: both amounts are named, and what to do', async () => {
    await restart({ creditNanoUsd: 199_999_999n });
    const { status, body } = await send(order());
    expect(status).toBe(402);
    expect(body.error).toMatchObject({
      code: 'insufficient_balance',
      message:
        'This call would hold $0.2, but $0.199999999 is spendable. No video of this model fits: choose a cheaper model, or add credit. At least $0.2 is needed.',
    });
    await expectNothing();
    expect((await send({ ...order(), duration: 4 })).status).toBe(402);
  });

  it('of an agent whose credit other videos hold: it may fit when one ends', async () => {
    await restart({ creditNanoUsd: 300_000_000n });
    const { id } = (await send(order())).body;
    expect((await send(order())).body.error.message).toContain(
      'Running calls hold $0.2: it may fit when one ends.',
    );
    await expectNothing(1);
    await endVideo(world, id, { errorCode: 'content_refused' });
    expect((await send(order())).status).toBe(202);
  });

  it('to the last nano-dollar that is there', async () => {
    await restart({ creditNanoUsd: 200_000_000n });
    expect((await send(order())).status).toBe(202);
  });

  it('above what one call may hold', async () => {
    world.capacityLimits.perCallNanoUsd = 199_999_999n;
    const { status, body } = await send(order());
    expect(status).toBe(400);
    expect(body.error).toMatchObject({
      code: 'request_over_capacity',
      message:
        'This call would hold $0.2, more than the $0.199999999 that one call may hold here now. No video of this model fits: choose a cheaper model. At least $0.2 is needed.',
    });
    await expectNothing();
  });

  it('above the operator’s whole pool, which no waiting empties', async () => {
    world.capacityLimits.poolNanoUsd = 1n;
    expect((await send(order())).body.error.code).toBe('request_over_capacity');
    await expectNothing();
  });

  it('while the operator’s pool is full', async () => {
    world.capacity.othersNanoUsd = world.capacityLimits.poolNanoUsd;
    expect((await send(order())).body.error.code).toBe('gateway_capacity');
    await expectNothing();
  });

  it('beyond the links that a call may hold', async () => {
    world.limits.linksPerCall = 1;
    const { body } = await send(order({ input_references: [reference(), reference()] }));
    expect(body.error).toMatchObject({ code: 'invalid_request', param: 'input_references[1].image_url.url' });
    expect(body.error.message).toContain('at most 1 links');
    await expectNothing();
  });

  it('beyond the videos that an agent may have in the making, until one ends', async () => {
    world.limits.openVideos = 2;
    const { id } = (await send(order())).body;
    await send(order());
    const { status, headers, body } = await send(order());
    expect(status).toBe(429);
    expect(headers.get('retry-after')).toBe('10');
    expect(body.error.message).toMatch(/^2 videos of this agent are being made/);
    await expectNothing(2);
    await submitVideo(world, id);
    expect((await send(order())).status).toBe(429);
    await endVideo(world, id, { costNanoUsd: 0n });
    expect((await send(order())).status).toBe(202);
  });

  it('of an agent that the ledger knows to be suspended', async () => {
    await world.setStatus('suspended');
    expect((await send(order())).body.error.code).toBe('agent_suspended');
    await expectNothing();
  });

  it('of a key that the ledger knows to be revoked', async () => {
    await world.told({ type: 'revoke_key', readVersion: null, agentId: AGENT, keyId: 1, actingKeyId: null });
    expect((await send(order())).status).toBe(401);
    await expectNothing();
  });

  it('of a gateway that is stopped', async () => {
    world.catalog.stopped = true;
    expect((await send(order())).body.error.code).toBe('gateway_unavailable');
    await expectNothing();
  });

  it('of a gateway that keeps no files', async () => {
    await restart({ deps: (deps) => ({ ...deps, files: null }) });
    const { status, body } = await send(order());
    expect(status).toBe(404);
    expect(body.error.message).toBe('This gateway keeps no files, so it makes no videos.');
  });

  it.each([
    ['down', new Error('connect ECONNREFUSED 10.0.0.7')],
    ['full', new StorageFullError()],
  ])('while storage is %s, and nothing of it is told', async (_, error) => {
    await restart({
      deps: (deps) => {
        if (deps.files === null) throw new Error('no files');
        return { ...deps, files: { ...deps.files, write: () => Promise.reject(error) } };
      },
    });
    const { status, headers, body } = await send(order());
    expect(status).toBe(503);
    expect(headers.get('retry-after')).toBe('15');
    expect(body.error.code).toBe('gateway_unavailable');
    expect(JSON.stringify(body)).not.toContain('10.0.0.7');
    await expectNothing();
  });

  it('while the ledger decides nothing', async () => {
    await restart({ ledger: unavailableLedger });
    expect((await send(order())).body.error.code).toBe('service_unavailable');
    await expectNothing();
  });
});

describe('a hold that cannot be known to be in the journal', () => {
  const lateJournal: VideoWorldOptions = {
    ledger: (inner) => ({
      ...inner,
      async execute(command) {
        const { result, durable } = await inner.execute(command);
        return { result, durable: command.type === 'reserve' ? Promise.resolve('unknown') : durable };
      },
    }),
  };

  it('is given up, free of charge, because nobody could ever find its video', async () => {
    await restart(lateJournal);
    const { status, body } = await send(order());
    expect(status).toBe(503);
    expect(body.error.code).toBe('service_unavailable');
    await expectNothing();
    expect((await world.view()).chargedNanoUsd).toBe(0n);
    expect(world.watched).toEqual([]);
  });

  it('leaves its Idempotency-Key free for another try', async () => {
    let late = true;
    await restart({
      ledger: (inner) => ({
        ...inner,
        async execute(command) {
          const { result, durable } = await inner.execute(command);
          const isLate = late && command.type === 'reserve';
          return { result, durable: isLate ? Promise.resolve('unknown') : durable };
        },
      }),
    });
    const key = { 'idempotency-key': 'order-1_A' };
    expect((await send(order(), key)).status).toBe(503);
    await expectNothing();
    late = false;
    const { status, body } = await send(order(), key);
    expect({ status, video: body.status }).toEqual({ status: 202, video: 'pending' });
    await expectNothing(1);
    expect((await send(order(), key)).body.id).toBe(body.id);
  });
});

/** An upload that has arrived, and a link to it. */
async function upload(agentId = AGENT, bytes: Buffer | null = Buffer.from([1, 2, 3, 4])) {
  const untilMs = world.clock.now() + UPLOAD_LINK_MS;
  const name: FileName = {
    kind: 'uploads',
    endHour: hourOf(untilMs),
    agentId,
    id: `upl_${randomBase62(24)}`,
    contentType: 'image/png',
  };
  if (bytes !== null) {
    const path = join(world.files.folder, formatFileName(name));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, bytes);
  }
  return { name, url: await world.files.getLink(name, untilMs) };
}

const NOT_YOURS =
  '`input_references[0].image_url.url` is no link to an upload of yours that still lives; upload the image again and send its `url`.';

describe('uploads of one’s own in an order', () => {
  it('are handed on by their link where anybody can follow it', async () => {
    const { url } = await upload();
    const { id } = (await send(order({ input_references: [reference(url)] }))).body;
    const { input_references } = await world.readOrder(await world.job(id));
    expect(input_references).toEqual([reference(url)]);
  });

  it('go along with the order where nobody can, byte for byte and each in its place', async () => {
    await restart({ deps: (deps) => ({ ...deps, refusePrivate: async () => 'leads nowhere' }) });
    const images = [Buffer.alloc(400_001, 'ab'), Buffer.from([1])];
    const [first, last] = [await upload(AGENT, images[0]), await upload(AGENT, images[1])];
    const frames = [frame('first_frame', first.url), frame('last_frame', last.url)];
    const { id } = (await send(order({ frame_images: frames, prompt: '"data:image/png;base64,"' }))).body;
    const { frame_images } = await world.readOrder(await world.job(id));
    const [sentFirst, sentLast] = [frame_images?.[0], frame_images?.[1]].map((each) => each?.image_url.url);
    expect(sentFirst).toBe(`data:image/png;base64,${images[0]?.toString('base64')}`);
    expect(sentLast).toBe(`data:image/png;base64,${images[1]?.toString('base64')}`);
  });

  it('may be 40 MB together, and no more', async () => {
    await restart({ deps: (deps) => ({ ...deps, refusePrivate: async () => 'leads nowhere' }) });
    const large = Buffer.alloc(20_971_520);
    const [first, last, byte] = [await upload(AGENT, large), await upload(AGENT, large), await upload()];
    const two = [frame('first_frame', first.url), frame('last_frame', last.url)];
    const taken = await send(order({ frame_images: two }));
    expect(taken.status).toBe(202);
    await writeFile(join(world.files.folder, formatFileName(last.name)), Buffer.alloc(20_971_521));
    const { status, body } = await send(order({ frame_images: two }));
    expect(status).toBe(400);
    expect(body.error.message).toBe(
      '`frame_images[1].image_url.url`: the uploads of one video have at most 40 MB together; send smaller images.',
    );
    expect((await send(order({ input_references: [reference(byte.url)] }))).status).toBe(202);
  });

  it.each([
    ['of another agent', async () => (await upload(8)).url],
    ['with another agent’s name put into it', async () => (await upload()).url.replace(`/${AGENT}/`, '/8/')],
    [
      'with one letter changed',
      async () => (await upload()).url.replace(/.$/, (end) => (end === 'A' ? 'B' : 'A')),
    ],
    [
      'for sending, not for reading',
      async () => (await world.files.putLink((await upload()).name, 4, world.clock.now() + DAY_MS)).url,
    ],
    [
      'that has ended',
      async () => {
        const { url } = await upload();
        world.clock.advance(UPLOAD_LINK_MS);
        return url;
      },
    ],
  ])('by a link %s are refused in the same words', async (_, make) => {
    const { status, body } = await send(order({ input_references: [reference(await make())] }));
    expect({ status, message: body.error.message }).toEqual({ status: 400, message: NOT_YOURS });
    await expectNothing();
  });

  it('cannot be looked at while storage is down, and nothing of it is told', async () => {
    const size = () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.7'));
    await restart({
      deps: (deps) => {
        if (deps.files === null) throw new Error('no files');
        return { ...deps, files: { ...deps.files, size } };
      },
    });
    const { status, body } = await send(order({ input_references: [reference((await upload()).url)] }));
    expect(status).toBe(503);
    expect(body.error.code).toBe('gateway_unavailable');
    expect(JSON.stringify(body)).not.toContain('10.0.0.7');
    await expectNothing();
  });

  it('that have not been sent yet are refused', async () => {
    const { url } = await upload(AGENT, null);
    const { body } = await send(order({ input_references: [reference(url)] }));
    expect(body.error).toMatchObject({
      param: 'input_references[0].image_url.url',
      message:
        '`input_references[0].image_url.url`: nothing has been uploaded to this link; PUT the image to its `upload_url` first, or start another upload.',
    });
  });
});

describe('a video that carries another one on', () => {
  const previous = (videoId: string, extra: object = {}) =>
    order({ prompt: undefined, previous_job_id: videoId, ...extra });

  it('is ordered by the provider’s own id of that one', async () => {
    const { id } = (await send(order())).body;
    await endVideo(world, id, { costNanoUsd: 1n });
    const { status, body } = await send(previous(id));
    expect(status).toBe(202);
    expect((await world.readOrder(await world.job(body.id))).previous_job_id).toBe(`job-${id}`);
  });

  it('needs that one to be completed', async () => {
    const { id } = (await send(order())).body;
    const refused = async () => (await send(previous(id))).body.error;
    expect(await refused()).toMatchObject({
      param: 'previous_job_id',
      message: '`previous_job_id` has to be a completed video; this one is `pending`.',
    });
    await submitVideo(world, id);
    expect((await refused()).message).toContain('is `in_progress`');
    await endVideo(world, id, { errorCode: 'content_refused' });
    expect((await refused()).message).toContain('is `failed`');
  });

  it('needs that one to be the agent’s, in the words for one that never was', async () => {
    const { id } = (await send(order())).body;
    await endVideo(world, id, { costNanoUsd: 1n });
    const theirs = `vid_${'f'.repeat(20)}`;
    world.jobs.set(theirs, { ...(await world.job(id)), agentId: 8, videoId: theirs });
    expect((await send(previous(theirs))).body.error.message).toBe(
      '`previous_job_id`: this agent has no such video.',
    );
  });

  it('needs that one to be of the same provider', async () => {
    const { id } = (await send(order())).body;
    await endVideo(world, id, { costNanoUsd: 1n });
    expect((await send(previous(id, { model: 'other/film' }))).body.error.message).toBe(
      '`previous_job_id` has to be a video of a model that this one can carry on; this one is not.',
    );
  });
});

describe('whatever is sent', () => {
  it('is either taken, with exactly its own hold and file, or leaves nothing', async () => {
    await restart({ creditNanoUsd: 1_500_000_000n });
    const junk = fc.oneof(fc.jsonValue(), fc.constantFrom(4, 8, '480p', '720p', '16:9', null, [], true, 0));
    const fields = [
      'model',
      'prompt',
      'duration',
      'resolution',
      'aspect_ratio',
      'generate_audio',
      'seed',
      'frame_images',
      'input_references',
      'previous_job_id',
      'x',
    ];
    let held = 0;
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.constantFrom(...fields), junk, { maxKeys: 3 }), async (extra) => {
        const { status, headers, body } = await send(order(extra));
        if (status === 202) held += 1;
        else expect(body.error.code).toMatch(/^[a-z_]+$/);
        expect(status).toBeLessThan(500);
        const { holds } = await world.view();
        expect(holds).toHaveLength(held);
        expect(await world.stored('orders')).toHaveLength(held);
        if (status === 202) expect(headers.get('x-hold-usd')).toBe(String(body.estimated_cost));
      }),
      { numRuns: 200 },
    );
    expect(held).toBeGreaterThan(0);
  });
});
