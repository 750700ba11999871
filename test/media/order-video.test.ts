import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HOUR_MS } from '#core/clock.ts';
import { hourOf } from '#core/files/file-name.ts';
import { Video } from '../../api/contract/video.ts';
import { frame, IMAGE, order, reference } from './video-models.ts';
import { AGENT, PUBLIC_URL, startVideoWorld, type VideoWorld } from './video-world.ts';

let world: VideoWorld;
beforeEach(async () => {
  world = await startVideoWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

async function made(res: Response): Promise<Video> {
  const text = await res.text();
  expect(res.status, text).toBe(202);
  return Video.parse(JSON.parse(text));
}

describe('an order', () => {
  it('is answered at once with a job that holds the most that the video can cost', async () => {
    const res = await world.order(order({ generate_audio: true }));
    const id = /\/(vid_[0-9A-Za-z]{20})$/.exec(res.headers.get('location') ?? '')?.[1] ?? '';
    expect(res.headers.get('x-hold-usd')).toBe('0.4');
    expect(res.headers.get('location')).toBe(`${PUBLIC_URL}/videos/${id}`);
    expect(res.headers.get('cache-control')).toBe('no-store');
    const text = await res.text();
    expect(JSON.parse(text)).toEqual({
      id,
      object: 'video.generation',
      model: 'acme/film',
      status: 'pending',
      polling_url: `${PUBLIC_URL}/videos/${id}`,
      unsigned_urls: [],
      estimated_cost: 0.4,
      usage: null,
      error: null,
      created_at: new Date(world.clock.now()).toISOString(),
      expires_at: null,
    });
    const { holds } = await world.view();
    expect(holds).toMatchObject([{ kind: 'video', nanoUsd: 400_000_000n, keyId: 1 }]);
    expect(holds[0]?.call).toEqual({
      model: 'acme/film',
      modelName: 'Acme Film',
      endpoint: 'videos',
      stream: false,
    });
    expect((await world.view()).runningCalls).toBe(0);
    expect(world.watched).toEqual([`${AGENT} ${id}`]);
    expect(world.capacity.heldNanoUsd).toBe(0n);
    expect(await (await world.get(`/videos/${id}`)).text()).toBe(text);
  });

  it('stands in a file that its worker can send as it is, silent unless sound was asked for', async () => {
    const { id } = await made(await world.order(order({ seed: 0, prompt: 'Ein "Boot" \u{1F6A3}' })));
    const job = await world.job(id);
    expect(job.orderFile).toBe(`orders/${hourOf(world.clock.now() + 12 * HOUR_MS)}/${AGENT}/${id}.json`);
    expect(await world.stored('orders')).toEqual([job.orderFile]);
    expect(await world.readOrder(job)).toEqual({
      model: 'vendor/film-2026',
      prompt: 'Ein "Boot" \u{1F6A3}',
      duration: 4,
      resolution: '480p',
      aspect_ratio: '16:9',
      generate_audio: false,
      seed: 0,
    });
  });

  it('hands public images on by their links', async () => {
    const frames = [frame('first_frame'), frame('last_frame', `${IMAGE}?2`)];
    const { id } = await made(await world.order(order({ prompt: undefined, frame_images: frames })));
    const sent = await world.readOrder(await world.job(id));
    expect(sent.frame_images).toEqual(frames);
    expect(sent).not.toHaveProperty('prompt');
    const other = await made(await world.order(order({ input_references: [reference(), reference()] })));
    expect((await world.readOrder(await world.job(other.id))).input_references).toHaveLength(2);
  });

  it.each([
    ['null', { seed: null, generate_audio: null, frame_images: null, previous_job_id: null }],
    ['empty arrays', { frame_images: [], input_references: [] }],
  ])('takes %s for what was left out', async (_, extra) => {
    const { id } = await made(await world.order(order({ model: 'acme/plain', ...extra })));
    expect(Object.keys(await world.readOrder(await world.job(id)))).toEqual([
      'model',
      'prompt',
      'duration',
      'resolution',
      'aspect_ratio',
      'generate_audio',
    ]);
  });

  it('counts characters of a prompt, not halves of them', async () => {
    await made(await world.order(order({ prompt: '\u{1F6A3}'.repeat(2_000) })));
  });
});
