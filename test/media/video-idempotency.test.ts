import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { endVideo } from './end-video.ts';
import { order } from './video-models.ts';
import { startVideoWorld, type VideoWorld } from './video-world.ts';

let world: VideoWorld;
beforeEach(async () => {
  world = await startVideoWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

const KEY = 'order-1_A';
const send = (body: unknown = order(), key = KEY) => world.order(body, { 'idempotency-key': key });
const read = async (res: Response) => ({ status: res.status, body: JSON.parse(await res.text()) });
const idOf = async (res: Response): Promise<string> => (await read(res)).body.id;

describe('an Idempotency-Key', () => {
  it.each(['12345678', 'a'.repeat(64), 'A-b_0123'])('of %s is taken', async (key) => {
    expect((await send(order(), key)).status).toBe(202);
  });

  it.each([
    ['7 characters', '1234567'],
    ['65 characters', 'a'.repeat(65)],
    ['nothing', ''],
    ['a blank in it', '1234 5678'],
    ['a point in it', '1234.5678'],
    ['a letter beyond ASCII', '12345678é'],
    ['two keys', '12345678, 87654321'],
  ])('of %s is refused, and nothing is held', async (_, key) => {
    const { status, body } = await read(await send(order(), key));
    expect(status).toBe(400);
    expect(body.error).toEqual({
      code: 'invalid_request',
      type: 'invalid_request_error',
      param: 'Idempotency-Key',
      message: 'The header `Idempotency-Key` has to be 8 to 64 characters from letters, digits, `-` and `_`.',
    });
    expect((await world.view()).holds).toEqual([]);
  });

  it('makes one video, whatever the second body says', async () => {
    const first = await read(await send());
    for (const body of [
      order(),
      order({ prompt: 'Another.' }),
      order({ duration: 8 }),
      order({ model: 'no/such' }),
      {},
    ]) {
      const res = await send(body);
      expect(res.headers.get('x-hold-usd')).toBeNull();
      expect(res.headers.get('location')).toBe(first.body.polling_url);
      expect(await read(res)).toEqual(first);
    }
    expect((await world.view()).holds).toHaveLength(1);
    expect(await world.stored('orders')).toHaveLength(1);
    expect(world.watched).toHaveLength(1);
  });

  it('still has to come with a body that can be read', async () => {
    await send();
    expect((await send('{')).status).toBe(400);
  });

  it('answers with the video as it is then, even a failed one', async () => {
    const failing = await idOf(await send());
    await endVideo(world, failing, { errorCode: 'content_refused' });
    expect((await read(await send())).body).toMatchObject({
      id: failing,
      status: 'failed',
      error: { code: 'content_refused' },
    });
    const made = await idOf(await send(order(), 'order-2_B'));
    await endVideo(world, made, { costNanoUsd: 150_000_000n });
    expect((await read(await send(order(), 'order-2_B'))).body).toMatchObject({
      id: made,
      status: 'completed',
      usage: { cost: 0.15 },
    });
  });

  it('answers an agent that is suspended by now, which could order nothing new', async () => {
    const first = await read(await send());
    await world.setStatus('suspended');
    // As the edge of this test knows its keys, the agent is active: the ledger's word counts for what is new.
    expect(await read(await send())).toEqual(first);
    expect((await read(await send(order(), 'order-2_B'))).body.error.code).toBe('agent_suspended');
  });

  it('two at once make one video', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => send().then(read)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(202));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect((await world.view()).holds).toHaveLength(1);
    expect(await world.stored('orders')).toHaveLength(1);
  });

  it('is not used up by an order that was refused', async () => {
    expect((await send(order({ duration: 5 }))).status).toBe(400);
    world.limits.openVideos = 0;
    expect((await send()).status).toBe(429);
    world.limits.openVideos = 20;
    expect((await read(await send())).body.status).toBe('pending');
  });

  it('is looked up in the history where the ledger has forgotten it', async () => {
    const id = await idOf(await send());
    const job = await world.job(id);
    const other = { ...job, videoId: `vid_${'b'.repeat(20)}`, idempotencyKey: 'long-ago' };
    world.jobs.set(other.videoId, other);
    expect(await idOf(await send(order(), 'long-ago'))).toBe(other.videoId);
    expect((await world.view()).holds).toHaveLength(1);
  });

  it('of another agent says nothing here', async () => {
    const id = await idOf(await send());
    const job = await world.job(id);
    world.jobs.set('theirs', {
      ...job,
      agentId: 8,
      videoId: `vid_${'c'.repeat(20)}`,
      idempotencyKey: 'theirs-1',
    });
    expect(await idOf(await send(order(), 'theirs-1'))).not.toContain('ccc');
    expect((await world.view()).holds).toHaveLength(2);
  });

  it('orders nothing while it cannot be looked up', async () => {
    await world[Symbol.asyncDispose]();
    world = await startVideoWorld({
      deps: (deps) => ({
        ...deps,
        videos: { find: async () => 'unavailable', findByKey: async () => 'unavailable' },
      }),
    });
    const { status, body } = await read(await send());
    expect(status).toBe(503);
    expect(body.error.code).toBe('service_unavailable');
    expect((await world.view()).holds).toEqual([]);
    expect((await world.order(order())).status).toBe(202);
  });
});
