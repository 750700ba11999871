import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type OpenAI from 'openai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DAY_MS } from '#core/clock.ts';
import { testDataDir } from '../support/data-dir.ts';
import { documentText } from '../support/edge-app.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { type GeneratedClient, generateClient } from '../support/generated-client.ts';
import { probeVideo } from '../support/probe-video.ts';
import { mediaProgram } from './media-program.ts';

/** Of the simulator, for the smallest of its videos without sound, and for its smallest images. */
const VIDEO_SECOND_USD = 0.025;
const IMAGE_USD = 0.01;

let gateway: TestGateway;
let client: GeneratedClient;

beforeAll(async () => {
  gateway = await startTestGateway();
  client = await generateClient(documentText);
  await client.write('media.ts', mediaProgram);
});
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await gateway.stop();
});

it('a generated client compiles', async () => {
  expect(await client.compile('media.ts')).toBe('');
});

it('a generated client orders a video, polls it, fetches it, and makes images, for exactly their prices', async () => {
  await using folder = await testDataDir();
  const agent = await gateway.newAgent();
  const output = await client.run('media.ts', gateway.baseUrl, agent.key, folder.path, 'order-0001');
  const told = JSON.parse(output);

  expect(told.first).toMatchObject({
    status: 202,
    video: { object: 'video.generation', estimated_cost: 2 * VIDEO_SECOND_USD, usage: null, error: null },
  });
  expect(told.video).toMatchObject({
    ...{ id: expect.stringMatching(/^vid_[0-9A-Za-z]{20}$/), status: 'completed' },
    ...{ usage: { cost: 2 * VIDEO_SECOND_USD }, error: null },
  });
  expect(told.video.unsigned_urls).toEqual([`${gateway.baseUrl}/videos/${told.video.id}/content`]);
  const keptMs = Date.parse(told.video.expires_at) - Date.parse(told.video.created_at);
  expect(Math.round(keptMs / DAY_MS)).toBe(30);
  expect(told.again).toBe(told.video.id);
  expect(told.refused).toMatchObject({ code: 'invalid_request', param: 'resolution' });

  const file = join(folder.path, 'video.mp4');
  expect((await readFile(file)).subarray(4, 8).toString()).toBe('ftyp');
  const probed = await probeVideo(file);
  if (probed !== null) expect(probed).toMatchObject({ codec: 'h264', seconds: 2, frames: 48 });

  expect(told.images).toEqual(Array(2).fill({ status: 200, type: 'image/png', sent: 'image/png' }));
  expect(told).toMatchObject({ price: String(IMAGE_USD), imageCost: 2 * IMAGE_USD });
  const image = await readFile(join(folder.path, 'image-1.png'));
  expect(image.subarray(1, 4).toString()).toBe('PNG');

  expect((await gateway.settled(agent)).chargedNanoUsd).toBe(70_000_000n);
  expect(gateway.provider.videos()).toHaveLength(1);
});

/** Its own methods for starting them speak another format: `client.post` sends any body to any path. */
it('the openai package orders, polls and fetches a video, and has images made', async () => {
  const agent = await gateway.newAgent();
  const { openai } = agent;
  const order = { model: 'faregate-sim/clip', prompt: 'A harbour at dawn', duration: 1 };
  const body = { ...order, resolution: '480p', aspect_ratio: '16:9' };
  const { id } = await openai.post<{ id: string }>('/videos', { body });
  await gateway.settled(agent);
  expect(await openai.videos.retrieve(id)).toMatchObject({ id, status: 'completed' });
  const file = Buffer.from(await (await openai.videos.downloadContent(id)).arrayBuffer());
  expect(file.subarray(4, 8).toString()).toBe('ftyp');

  const painted = { model: 'faregate-sim/paint', prompt: 'A harbour at dawn', response_format: 'b64_json' };
  const { data } = await openai.post<OpenAI.ImagesResponse>('/images', { body: painted });
  const image = Buffer.from(data?.[0]?.b64_json ?? '', 'base64');
  expect(image.subarray(1, 4).toString()).toBe('PNG');
});
