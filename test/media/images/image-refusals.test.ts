import { describe, expect, it } from 'vitest';
import { ask, painter, plain, settled, startWorld } from './image-world.ts';
import { imageRefusals } from './refusals.ts';

async function refusalOf(body: object | string, options: Parameters<typeof startWorld>[0] = {}) {
  const world = await startWorld(options);
  const error = await world.start(body);
  expect(world.events('reserved')).toEqual([]);
  expect(world.upstreams.requests).toEqual([]);
  expect(world.capacity.heldNanoUsd).toBe(0n);
  expect(world.res.status).toBeNull();
  return error;
}

describe('a request for images is refused, and holds nothing, when', () => {
  it.each(imageRefusals)('$when', async ({ body, code = 'invalid_request', param, message }) => {
    expect(await refusalOf(ask(body))).toMatchObject({ code, param, message });
  });

  it.each([
    ['the body is no JSON', '{"model":', 'The body is not valid JSON.'],
    ['the body is no object', '[]', 'The body has to be a JSON object.'],
    ['a key stands twice', '{"model":"a","model":"b"}', 'A key stands twice in one object of the body.'],
  ])('%s', async (_, body, message) => {
    expect(await refusalOf(body)).toMatchObject({ code: 'invalid_request', message });
  });

  const good = 'https://example.com/a.png';
  const bad = 'http://169.254.169.254/latest';
  it.each<[string, object, string]>([
    ['Prompt', { Prompt: 'b' }, 'Prompt'],
    ['N', { N: 9 }, 'N'],
    ['Image', { Image: bad }, 'Image'],
    ['image_URL', { image_URL: bad }, 'image_URL'],
    ['images', { images: [bad] }, 'images'],
    [
      'URL beside url',
      { input_references: [{ type: 'image_url', image_url: { url: good, URL: bad } }] },
      'input_references[0].image_url',
    ],
    [
      'Image_URL beside image_url',
      { input_references: [{ type: 'image_url', image_url: { url: good }, Image_URL: { url: bad } }] },
      'input_references[0]',
    ],
    [
      'Type beside type',
      { input_references: [{ type: 'image_url', Type: 'file', image_url: { url: good } }] },
      'input_references[0]',
    ],
  ])('a member is spelled otherwise than the document does: %s', async (_spelled, extra, param) => {
    const error = await refusalOf(ask(extra));
    expect(error).toMatchObject({ code: 'invalid_request' });
    expect(error?.param).toContain(param);
  });

  it.each([
    ['inactive', 'agent_inactive'],
    ['suspended', 'agent_suspended'],
  ] as const)('its agent is %s', async (status, code) => {
    expect(await refusalOf(ask(), { status })).toMatchObject({ code });
  });

  it('the gateway keeps no files and links are wanted', async () => {
    expect(await refusalOf(ask(), { keepsFiles: false })).toMatchObject({
      param: 'response_format',
      message: '`response_format` has to be `b64_json`: this gateway keeps no files.',
    });
  });

  it('it holds more links than a call may', async () => {
    const reference = (at: number) => ({
      type: 'image_url',
      image_url: { url: `https://example.com/${at}.png` },
    });
    const body = ask({ input_references: [reference(0), reference(1), reference(2)] });
    expect(await refusalOf(body, { limits: { linksPerCall: 2 } })).toMatchObject({
      code: 'invalid_request',
      param: 'input_references[2].image_url.url',
      message: expect.stringContaining('at most 2 links'),
    });
  });

  it('its provider is stopped', async () => {
    expect(await refusalOf(ask(), { given: { stopped: true } })).toMatchObject({
      code: 'provider_unavailable',
    });
  });

  it('the model is one that is not served', async () => {
    expect(await refusalOf(ask({ model: 'acme/retired' }))).toMatchObject({
      code: 'model_not_served',
      param: 'model',
      message: 'The model `acme/retired` is not served here; `GET /images/models` lists those that are.',
    });
  });

  it('the store cannot say whether an image to read is there: it is a wait, not a fault', async () => {
    const world = await startWorld();
    world.files.size = async () => {
      throw new Error('the store is down');
    };
    const url = 'https://files.test/uploads/20990101T00/1/upl_000000000000000000000000.png';
    const error = await world.start(ask({ input_references: [{ type: 'image_url', image_url: { url } }] }));
    expect(error).toMatchObject({ code: 'gateway_unavailable' });
    expect(world.events('reserved')).toEqual([]);
    expect(world.faults).toHaveLength(1);
  });

  it('more images are read than the model takes', async () => {
    const limited = painter({
      parameters: new Map([['input_references', { type: 'range', min: 0, max: 1 }]]),
    });
    const links = [1, 2].map((n) => ({
      type: 'image_url',
      image_url: { url: `https://example.com/${n}.png` },
    }));
    expect(await refusalOf(ask({ input_references: links }), { models: [limited, plain] })).toMatchObject({
      param: 'input_references',
      message: '`input_references` has to be an array of at most 1 images.',
    });
  });

  it('the balance is below the hold: both amounts are named, and how many images fit', async () => {
    const error = await refusalOf(ask({ n: 4 }), { creditNanoUsd: 25_000_000n });
    expect(error).toMatchObject({
      code: 'insufficient_balance',
      message: 'This call would hold $0.04, but $0.025 is spendable. The largest `n` that fits is 2.',
    });
    const one = await refusalOf(ask(), { creditNanoUsd: 1n });
    expect(one?.message).toContain('Not even one such image fits');
  });
});

it('null and empty stand for fields that were not set', async () => {
  const world = await startWorld();
  world.confirm('durable');
  const body = ask({ n: null, seed: null, stream: null, response_format: null, input_references: [] });
  const running = world.start(body);
  await settled();
  expect(JSON.parse(world.upstreams.requests[0]?.body ?? '')).toEqual({
    model: 'acme/painter-1',
    prompt: 'a bicycle',
    provider: { only: ['acme/fast'], allow_fallbacks: false },
  });
  await world.reply('{}', { status: 500 });
  await running;
});
