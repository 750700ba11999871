import { inflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { startTestProvider, type TestProvider } from '../support/provider.ts';

const post = (provider: TestProvider, body: object) =>
  fetch(`${provider.baseUrl}/images`, {
    method: 'POST',
    body: JSON.stringify({ model: 'faregate-sim/paint', prompt: 'A cat', ...body }),
  });

interface Answer {
  data: { b64_json: string; media_type: string }[];
  usage?: { cost: number };
}

const made = async (provider: TestProvider, body: object = {}): Promise<Answer> =>
  JSON.parse(await (await post(provider, body)).text());

const bytesOf = (answer: Answer, at = 0): Buffer => Buffer.from(answer.data[at]?.b64_json ?? '', 'base64');

test('images are PNG, as many and as large as asked for, and billed', async () => {
  await using provider = await startTestProvider();
  const answer = await made(provider, { n: 2, resolution: '512', aspect_ratio: '16:9' });
  expect(answer.data).toHaveLength(2);
  expect(answer.usage?.cost).toBe(0.02);
  const png = bytesOf(answer);
  expect(png.subarray(1, 4).toString()).toBe('PNG');
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  expect([width, height]).toEqual([682, 384]);
  const at = png.indexOf('IDAT');
  const pixels = inflateSync(png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4)));
  // Each row begins with its filter, and each pixel is a number of the palette.
  expect(pixels.length).toBe((width + 1) * height);
  expect(bytesOf(answer, 1).equals(png)).toBe(false);
  expect(provider.lastBill()).toMatchObject({ model: 'faregate-sim/paint', costUsd: '0.02' });
});

test('an image is WebP where asked for, and a field that the model does not list is dropped', async () => {
  await using provider = await startTestProvider();
  const webp = await made(provider, { output_format: 'webp' });
  expect(webp.data[0]?.media_type).toBe('image/webp');
  expect(bytesOf(webp).subarray(8, 16).toString()).toBe('WEBPVP8L');
  const sketch = await made(provider, { model: 'faregate-sim/sketch', output_format: 'webp', n: 3 });
  expect(sketch.data.map(({ media_type: type }) => type)).toEqual(['image/png']);
});

test('who pins no endpoint is billed by the dearer one', async () => {
  await using provider = await startTestProvider();
  const unpinned = await made(provider, { model: 'faregate-sim/sketch' });
  const pinned = await made(provider, {
    model: 'faregate-sim/sketch',
    provider: { only: ['sim-cloud'], allow_fallbacks: false },
  });
  expect(unpinned.usage?.cost).toBe(2 * (pinned.usage?.cost ?? 0));
});

test('partial images come before the whole one in a stream', async () => {
  await using provider = await startTestProvider();
  const answer = await post(provider, { model: 'faregate-sim/develop', stream: true });
  expect(answer.headers.get('content-type')).toBe('text/event-stream');
  const lines = (await answer.text()).split('\n\n').filter((line) => line !== '');
  expect(lines.at(-1)).toBe('data: [DONE]');
  const events = lines.slice(0, -1).map((line) => JSON.parse(line.slice('data: '.length)));
  expect(events.map(({ type }) => type)).toEqual([
    'image_generation.partial_image',
    'image_generation.partial_image',
    'image_generation.completed',
  ]);
  expect(events.at(-1)?.usage.cost).toBe(0.02);
});

test('a script decides how many images come, how large, of which type, and at which cost', async () => {
  await using provider = await startTestProvider();
  const path = '/images';
  provider.next(
    { path, images: { count: 1, bytes: 3_000_000 } },
    { path, images: { type: 'garbage' } },
    { path, usageAt: 'missing' },
    { path, usageFields: { cost: '"dear"' } },
    { path, status: 400, error: { type: 'PROHIBITED_CONTENT' } },
  );
  const large = await made(provider, { n: 2 });
  expect(large.data).toHaveLength(1);
  expect(bytesOf(large).length).toBe(3_000_000);
  expect(bytesOf(await made(provider)).toString()).toBe('This is no image.');
  expect((await made(provider)).usage).toBeUndefined();
  expect((await made(provider)).usage?.cost).toBe('dear');
  const bills = provider.billed().length;
  expect((await post(provider, {})).status).toBe(400);
  expect(provider.billed()).toHaveLength(bills);
});

test('the lists have a row for every filter of an importer, and prices only with the endpoints', async () => {
  await using provider = await startTestProvider();
  const list = JSON.parse(await (await fetch(`${provider.baseUrl}/images/models`)).text());
  expect(list.data.map(({ id }: { id: string }) => id)).toContain('faregate-sim/poster');
  expect(JSON.stringify(list)).not.toContain('cost_usd');
  const path = '/images/models/faregate-sim/sketch/endpoints';
  const { endpoints } = JSON.parse(await (await fetch(provider.baseUrl + path)).text());
  expect(endpoints.map((each: { provider_tag: string }) => each.provider_tag)).toEqual([
    'sim-fast/priority',
    'sim-cloud',
  ]);
  expect((await fetch(`${provider.baseUrl}/images/models/faregate-sim/none/endpoints`)).status).toBe(404);
});
