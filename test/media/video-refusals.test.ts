import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorTable } from '../../api/contract/errors.ts';
import { frame, IMAGE, order, reference } from './video-models.ts';
import { videoRefusals } from './video-refusals.ts';
import { startVideoWorld, type VideoWorld } from './video-world.ts';

let world: VideoWorld;
beforeAll(async () => {
  world = await startVideoWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** What a refusal leaves behind. */
async function expectNothing(): Promise<void> {
  const { holds, chargedNanoUsd } = await world.view();
  expect({ holds, chargedNanoUsd }).toEqual({ holds: [], chargedNanoUsd: 0n });
  expect(await world.stored('orders')).toEqual([]);
  expect(world.watched).toEqual([]);
  expect(world.capacity.heldNanoUsd).toBe(0n);
}

describe('a value that its model does not list is refused by the field, and nothing is held or stored', () => {
  it.each(videoRefusals)('$param: $wrong', async ({ body, code = 'invalid_request', param, message }) => {
    const res = await world.order(body);
    expect(res.status).toBe(errorTable[code].status);
    const { type } = errorTable[code];
    expect(await res.json()).toEqual({ error: { message, type, code, param } });
    await expectNothing();
  });
});

describe('a member that is spelled otherwise than the document does is refused', () => {
  const BAD = 'http://169.254.169.254/latest';
  it.each<[string, object]>([
    ['Prompt beside prompt', { Prompt: 'b' }],
    ['Duration beside duration', { Duration: 60 }],
    ['Image', { Image: BAD }],
    ['image_URL', { image_URL: BAD }],
    ['Frame_Images', { Frame_Images: [frame()] }],
    ['URL beside url', { input_references: [{ type: 'image_url', image_url: { url: IMAGE, URL: BAD } }] }],
    ['Image_URL beside image_url', { input_references: [{ ...reference(), Image_URL: { url: BAD } }] }],
    ['Type beside type', { frame_images: [{ ...frame(), Type: 'file' }] }],
    ['Frame_type beside frame_type', { frame_images: [{ ...frame(), Frame_type: 'last_frame' }] }],
  ])('%s', async (_spelled, extra) => {
    const res = await world.order(order(extra));
    const { error } = JSON.parse(await res.text());
    expect({ status: res.status, code: error.code }).toEqual({ status: 400, code: 'invalid_request' });
    await expectNothing();
  });
});

describe('a body that is no order is refused whole', () => {
  it.each([
    ['nothing', '', 'not valid JSON'],
    ['no JSON', '{"model":', 'not valid JSON'],
    ['an array', '[]', 'a JSON object'],
    ['a key twice', `{"model":"acme/plain",${JSON.stringify(order()).slice(1)}`, 'stands twice'],
    [
      'a key in disguise',
      JSON.stringify(order()).replace('"duration"', '"dur\\u0061tion"'),
      'without escapes',
    ],
    ['too deep', `{"model":${'['.repeat(65)}${']'.repeat(65)}}`, 'nests deeper'],
  ])('%s', async (_, body, message) => {
    const res = await world.order(body);
    expect(res.status).toBe(400);
    expect(JSON.parse(await res.text()).error.message).toContain(message);
    await expectNothing();
  });

  it('more than 4 MB', async () => {
    const res = await world.order(JSON.stringify(order({ prompt: 'x'.repeat(4 * 1024 * 1024) })));
    expect(res.status).toBe(413);
    await expectNothing();
  });
});
