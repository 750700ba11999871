import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, isoTime, SECOND_MS } from '#core/clock.ts';
import { parseFileName } from '#core/files/file-name.ts';
import { VIDEO_KEPT_MS } from '#core/limits.ts';
import { endVideo, submitVideo } from './end-video.ts';
import { order } from './video-models.ts';
import { PUBLIC_URL, startVideoWorld, type VideoWorld } from './video-world.ts';

let world: VideoWorld;
let id: string;
beforeEach(async () => {
  world = await startVideoWorld();
  id = JSON.parse(await (await world.order(order())).text()).id;
});
afterEach(() => world[Symbol.asyncDispose]());

const read = async (path = `/videos/${id}`) => {
  const res = await world.get(path);
  return { status: res.status, headers: res.headers, body: JSON.parse((await res.text()) || 'null') };
};

describe('a job, as it is read', () => {
  it('is pending, then in progress, then completed with what was charged and where the file is', async () => {
    const pending = (await read()).body;
    expect(pending).toMatchObject({ status: 'pending', usage: null, expires_at: null });
    await submitVideo(world, id);
    expect((await read()).body).toEqual({ ...pending, status: 'in_progress' });
    world.clock.advance(72 * SECOND_MS);
    await endVideo(world, id, { costNanoUsd: 123_456_789n });
    expect((await read()).body).toEqual({
      ...pending,
      status: 'completed',
      usage: { cost: 0.123456789 },
      unsigned_urls: [`${PUBLIC_URL}/videos/${id}/content`],
      expires_at: isoTime(world.clock.now() + 30 * DAY_MS),
    });
    expect((await world.view()).chargedNanoUsd).toBe(123_456_789n);
  });

  it('that failed tells why, and was charged nothing', async () => {
    await endVideo(world, id, { errorCode: 'content_refused' });
    expect((await read()).body).toMatchObject({
      status: 'failed',
      error: { code: 'content_refused' },
      usage: null,
      unsigned_urls: [],
      expires_at: null,
    });
    expect((await world.view()).chargedNanoUsd).toBe(0n);
  });

  it('never shows a charge above what was held', async () => {
    await endVideo(world, id, { costNanoUsd: 900_000_000n });
    const { usage, estimated_cost } = (await read()).body;
    expect(usage.cost).toBe(estimated_cost);
  });

  it('is expired after 30 days, when its file is deleted', async () => {
    await endVideo(world, id, { costNanoUsd: 1n });
    world.jobs.set(id, await world.job(id));
    world.clock.advance(VIDEO_KEPT_MS - 1);
    expect((await read()).body.status).toBe('completed');
    expect((await read(`/videos/${id}/content`)).status).toBe(302);
    world.clock.advance(1);
    expect((await read()).body).toMatchObject({
      status: 'expired',
      usage: { cost: 1e-9 },
      unsigned_urls: [],
    });
    const gone = await read(`/videos/${id}/content`);
    expect(gone.status).toBe(404);
    expect(gone.body.error.code).toBe('not_ready');
  });

  it('of an agent that is suspended is read, too', async () => {
    await world.setStatus('suspended');
    expect((await read()).status).toBe(200);
  });

  it.each([
    ['of nobody', `vid_${'x'.repeat(20)}`],
    ['too short', 'vid_1'],
    ['of another kind', `upl_${'x'.repeat(24)}`],
    ['a path', '..%2f..%2fetc%2fpasswd'],
    ['of bytes that are no text', '%ff'],
    ['with an escape in it', `%76id_${'x'.repeat(20)}`],
    ['a name of objects', '__proto__'],
  ])('is not found by an id %s', async (_, other) => {
    for (const path of [`/videos/${other}`, `/videos/${other}/content`]) {
      const { status, body } = await read(path);
      expect(status).toBe(404);
      expect(body.error.code).toBe('not_found');
    }
  });

  it('of another agent answers, to the letter, like one that never was', async () => {
    const job = await world.job(id);
    const theirs = `vid_${'d'.repeat(20)}`;
    world.jobs.set(theirs, { ...job, agentId: 8, videoId: theirs });
    const never = `vid_${'e'.repeat(20)}`;
    for (const path of ['', '/content']) {
      const [a, b] = [await read(`/videos/${theirs}${path}`), await read(`/videos/${never}${path}`)];
      expect({ status: a.status, body: a.body }).toEqual({ status: 404, body: b.body });
    }
  });

  it('needs a key, and one that is not revoked', async () => {
    for (const path of [`/videos/${id}`, `/videos/${id}/content`]) {
      expect((await world.get(path, world.edge.revokedKey)).status).toBe(401);
      expect((await fetch(`${world.edge.url}/v1${path}`)).status).toBe(401);
    }
  });

  it('is the same with a query behind its path, which takes the slow way', async () => {
    expect((await read(`/videos/${id}?x=1`)).body).toEqual((await read()).body);
  });
});

describe('reads of jobs', () => {
  it('are 60 a minute of each key, whatever is found; then one a second', async () => {
    for (let at = 0; at < 60; at++)
      expect((await read(at % 2 ? undefined : '/videos/vid_1')).status).not.toBe(429);
    const refused = await read();
    expect(refused.status).toBe(429);
    expect(refused.body.error.code).toBe('rate_limited');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await world.get(`/videos/${id}`, world.edge.otherKey)).status).toBe(200);
    await endVideo(world, id, { costNanoUsd: 1n });
    expect((await read(`/videos/${id}/content`)).status).toBe(302);
    world.clock.advance(SECOND_MS);
    expect((await read()).status).toBe(200);
    expect((await read()).status).toBe(429);
  });
});

describe('the file of a video', () => {
  it('is behind a link for one hour, that nothing keeps', async () => {
    await endVideo(world, id, { costNanoUsd: 1n });
    const path = (await world.job(id)).end?.file?.path ?? '';
    const { status, headers, body } = await read(`/videos/${id}/content`);
    expect(status).toBe(302);
    expect(body).toBeNull();
    expect(headers.get('cache-control')).toBe('no-store');
    const link = headers.get('location') ?? '';
    expect(link).toContain(`/files/${path}?`);
    const untilMs = Math.floor((world.clock.now() + HOUR_MS) / SECOND_MS) * SECOND_MS;
    expect(world.files.parseLink(link)).toEqual({ kind: 'ours', name: parseFileName(path), untilMs });
  });

  it('has no link that outlives it', async () => {
    await endVideo(world, id, { costNanoUsd: 1n });
    const job = await world.job(id);
    world.jobs.set(id, job);
    world.clock.advance(VIDEO_KEPT_MS - 60 * SECOND_MS);
    const owner = world.files.parseLink((await read(`/videos/${id}/content`)).headers.get('location') ?? '');
    const endsAtMs = (job.end?.file?.madeAtMs ?? 0) + VIDEO_KEPT_MS;
    expect(owner.kind === 'ours' && owner.untilMs).toBe(Math.floor(endsAtMs / SECOND_MS) * SECOND_MS);
  });

  it.each(['pending', 'in_progress', 'failed'])('is not ready while it is %s', async (status) => {
    if (status === 'in_progress') await submitVideo(world, id);
    if (status === 'failed') await endVideo(world, id, { errorCode: 'generation_failed' });
    expect((await read()).body.status).toBe(status);
    const answer = await read(`/videos/${id}/content`);
    expect(answer.status).toBe(404);
    expect(answer.body.error).toMatchObject({ code: 'not_ready', type: 'not_found_error', param: null });
  });
});
