import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { ScriptRule } from '../../api/simulator/script-rule.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { startTestProvider, type TestProvider } from '../support/provider.ts';

const order = (given: object = {}) => ({
  model: 'faregate-sim/clip',
  prompt: 'A cat that reads a newspaper',
  duration: 2,
  resolution: '480p',
  aspect_ratio: '16:9',
  generate_audio: false,
  ...given,
});

const post = (provider: TestProvider, body: unknown) =>
  fetch(`${provider.baseUrl}/videos`, { method: 'POST', body: JSON.stringify(body) });

interface Job {
  id: string;
  status: string;
  polling_url: string;
  unsigned_urls?: string[];
  usage?: { cost: number };
  error?: string;
}

const submitted = async (provider: TestProvider, given: object = {}): Promise<Job> =>
  JSON.parse(await (await post(provider, order(given))).text());

const polled = async (job: Job): Promise<Job> => JSON.parse(await (await fetch(job.polling_url)).text());

test('a video is taken, made in its time, and downloaded as H.264', async () => {
  const clock = createFakeClock();
  await using provider = await startTestProvider({ clock, videoMs: 4_000 });
  const answer = await post(provider, order());
  expect(answer.status).toBe(202);
  const job: Job = JSON.parse(await answer.text());
  expect((await polled(job)).status).toBe('pending');
  clock.advance(1_000);
  expect((await polled(job)).status).toBe('in_progress');
  expect((await fetch(`${job.polling_url}/content?index=0`)).status).toBe(404);
  clock.advance(3_000);
  const done = await polled(job);
  expect(done).toMatchObject({ status: 'completed', usage: { cost: 0.05, is_byok: false } });
  const file = await fetch(done.unsigned_urls?.[0] ?? '');
  expect(file.headers.get('content-type')).toBe('video/mp4');
  const bytes = Buffer.from(await file.arrayBuffer());
  expect(bytes.subarray(4, 8).toString()).toBe('ftyp');
  expect(bytes.includes('avc1')).toBe(true);
  expect(provider.videos()).toEqual([
    expect.objectContaining({ id: job.id, status: 'completed', polls: 3, downloads: 1, costUsd: '0.05' }),
  ]);
  expect(provider.lastBill()).toMatchObject({ model: 'faregate-sim/clip', costUsd: '0.05' });
});

test('parts of a file put together are the file', async () => {
  await using provider = await startTestProvider();
  const { polling_url: url } = await submitted(provider);
  const whole = await fetch(`${url}/content`);
  const etag = whole.headers.get('etag') ?? '';
  const bytes = Buffer.from(await whole.arrayBuffer());
  const part = async (range: string, tag = etag) =>
    fetch(`${url}/content`, { headers: { range, 'if-range': tag } });
  const first = await part('bytes=0-999');
  const rest = await part('bytes=1000-');
  expect([first.status, rest.status]).toEqual([206, 206]);
  expect(rest.headers.get('content-range')).toBe(`bytes 1000-${bytes.length - 1}/${bytes.length}`);
  const joined = Buffer.concat([
    Buffer.from(await first.arrayBuffer()),
    Buffer.from(await rest.arrayBuffer()),
  ]);
  expect(createHash('sha256').update(joined).digest('hex')).toBe(
    createHash('sha256').update(bytes).digest('hex'),
  );
  const other = await part('bytes=1000-', '"another"');
  expect(other.status).toBe(200);
  await other.body?.cancel();
  expect((await part(`bytes=${bytes.length}-`)).status).toBe(416);
});

test('the same seed makes the same video, another seed another', async () => {
  const made = async (seed: string): Promise<string> => {
    await using provider = await startTestProvider({ seed });
    const { polling_url: url } = await submitted(provider);
    return createHash('sha256')
      .update(Buffer.from(await (await fetch(`${url}/content`)).arrayBuffer()))
      .digest('hex');
  };
  expect(await made('one')).toBe(await made('one'));
  expect(await made('one')).not.toBe(await made('two'));
});

test.each<[string, number, ScriptRule]>([
  ['refused', 400, { status: 400, error: {} }],
  ['refused for want of money', 402, { status: 402, error: {} }],
  ['refused for its model', 404, { status: 404, error: {} }],
  ['refused for now', 429, { status: 429, error: {} }],
  ['failed', 500, { status: 500, error: {} }],
])('a submission that is %s makes no job', async (_, status, rule) => {
  await using provider = await startTestProvider();
  provider.next({ path: '/videos', ...rule });
  expect((await post(provider, order())).status).toBe(status);
  expect(provider.videos()).toEqual([]);
});

test('a job whose answer is lost is there all the same', async () => {
  await using provider = await startTestProvider();
  provider.next({ path: '/videos', cutAt: 'headers' });
  await expect(post(provider, order())).rejects.toThrow();
  expect(provider.videos()).toHaveLength(1);
  provider.next({ path: '/videos', status: 500, error: {}, video: { taken: true } });
  expect((await post(provider, order())).status).toBe(500);
  expect(provider.videos()).toHaveLength(2);
});

test.each([
  ['failed', { error: 'Blocked by content policy' }],
  ['cancelled', {}],
  ['expired', {}],
] as const)('a job ends %s and is not billed', async (end, also) => {
  await using provider = await startTestProvider();
  provider.next({ path: '/videos', video: { end, ...also } });
  const job = await polled(await submitted(provider));
  expect(job).toMatchObject({ status: end, ...also });
  expect(job.usage).toBeUndefined();
  expect(provider.billed()).toEqual([]);
});

test('a job may never end', async () => {
  const clock = createFakeClock();
  await using provider = await startTestProvider({ clock });
  provider.next({ path: '/videos', video: { end: 'never' } });
  const job = await submitted(provider);
  clock.advance(86_400_000);
  expect((await polled(job)).status).toBe('in_progress');
});

test('the cost comes late, not at all, or wrong, as told', async () => {
  await using provider = await startTestProvider();
  provider.next(
    { path: '/videos', video: { costAfterPolls: 2 } },
    { path: '/videos', video: { costText: null } },
    { path: '/videos', video: { costText: '"free"' } },
    { path: '/videos', video: { costText: '0' }, billUsd: '0.5' },
  );
  const late = await submitted(provider);
  for (const cost of [undefined, undefined, 0.05]) expect((await polled(late)).usage?.cost).toBe(cost);
  expect((await polled(await submitted(provider))).usage).toBeUndefined();
  expect((await polled(await submitted(provider))).usage?.cost).toBe('free');
  expect((await polled(await submitted(provider))).usage?.cost).toBe(0);
  expect(provider.lastBill().costUsd).toBe('0.5');
});

test('a file is cut, of the wrong type, gone, or as large as told', async () => {
  await using provider = await startTestProvider();
  const { polling_url: url } = await submitted(provider);
  const path = '/videos/{id}/content';
  provider.next(
    { path, cutAt: 1_000 },
    { path, content: { type: 'html' } },
    { path, status: 410, error: {} },
  );
  await expect((await fetch(`${url}/content`)).arrayBuffer()).rejects.toThrow();
  expect((await fetch(`${url}/content`)).headers.get('content-type')).toContain('text/html');
  expect((await fetch(`${url}/content`)).status).toBe(410);
  provider.next({ path, content: { bytes: 3_000_000 } });
  expect((await (await fetch(`${url}/content`)).arrayBuffer()).byteLength).toBe(3_000_000);
  provider.next({ path, content: { bytes: 20 * 1024 ** 3 } });
  const huge = await fetch(`${url}/content`);
  expect(huge.headers.get('content-length')).toBe(String(20 * 1024 ** 3));
  await huge.body?.cancel();
});

test('a poll answers what a script says', async () => {
  await using provider = await startTestProvider();
  const job = await submitted(provider);
  const path = '/videos/{id}';
  provider.next({ path, body: '{"id":' }, { path, status: 503, error: {} });
  expect(await (await fetch(job.polling_url)).text()).toBe('{"id":');
  expect((await fetch(job.polling_url)).status).toBe(503);
  expect((await polled(job)).status).toBe('completed');
});

test.each([
  ['a model that it does not have', { model: 'faregate-sim/none' }, 404],
  ['a resolution that the model does not list', { resolution: '4K' }, 400],
  ['neither prompt nor images', { prompt: '' }, 400],
  ['an image without a link', { input_references: [{ type: 'image_url' }] }, 400],
])('%s is refused', async (_, given, status) => {
  await using provider = await startTestProvider();
  expect((await post(provider, order(given))).status).toBe(status);
});

test('sound is on where nobody says that it is off', async () => {
  await using provider = await startTestProvider();
  const job = await polled(await submitted(provider, { generate_audio: undefined }));
  expect(job.usage?.cost).toBe(0.08);
});

test('another process reads which jobs there are', async () => {
  await using provider = await startTestProvider();
  const { id } = await submitted(provider);
  const answer = await fetch(`http://127.0.0.1:${provider.port}/_videos`);
  expect(await answer.json()).toMatchObject({ data: [{ id, model: 'faregate-sim/clip' }] });
});
