import { readFile } from 'node:fs/promises';
import type { BrowserContext, Route } from 'playwright-core';

export interface FakeJob {
  status: 'pending' | 'in_progress' | 'completed' | 'failed' | 'expired';
  usage?: { cost: number };
  error?: { code: string };
  expires_at?: string;
}

export interface SeenOrder {
  body: Record<string, unknown>;
  idempotencyKey: string | undefined;
}

/** Media answers that no real gateway gives when a test wants them, put between a console and its gateway. */
export interface FakeMedia {
  orders: SeenOrder[];
  /** How often each video was asked for. */
  reads: Map<string, number>;
  /** Links of what the next order of images gives; those that begin with `/files/pictures/fake` lead to one. */
  images: string[];
  /** Of every video. */
  job: FakeJob;
  /** Whether it has forgotten them all. */
  unknown: boolean;
  /** What `/content` gets. */
  content: (route: Route) => Promise<void>;
  /** What the next order gets instead of a job. */
  nextOrder: ((route: Route) => Promise<void>) | null;
}

export async function fakeMedia(
  context: BrowserContext,
  models: { videos?: unknown[]; images?: unknown[] },
): Promise<FakeMedia> {
  const fake: FakeMedia = {
    ...{ orders: [], reads: new Map(), images: [], nextOrder: null, unknown: false },
    job: { status: 'pending' },
    content: (route) => route.abort(),
  };
  const json = (route: Route, status: number, body: unknown) => route.fulfill({ status, json: body });
  const jobOf = (id: string) => ({
    ...{ id, object: 'video.generation', model: 'fake/video', polling_url: '', unsigned_urls: [] },
    ...{ estimated_cost: 0.4, usage: null, error: null, created_at: new Date().toISOString() },
    ...{ expires_at: null, ...fake.job },
  });
  await context.route('**/v1/videos/models', (route) =>
    json(route, 200, { object: 'list', data: models.videos ?? [] }),
  );
  await context.route('**/v1/images/models', (route) =>
    json(route, 200, { object: 'list', data: models.images ?? [] }),
  );
  await context.route('**/v1/images', async (route) => {
    fake.orders.push({ body: route.request().postDataJSON(), idempotencyKey: undefined });
    const { nextOrder } = fake;
    fake.nextOrder = null;
    const data = fake.images.map((url) => ({
      url,
      media_type: 'image/png',
      expires_at: '2099-01-01T00:00:00Z',
    }));
    if (nextOrder !== null) await nextOrder(route);
    else await json(route, 200, { created: 0, data, usage: { cost: 0.0400000007 } });
  });
  // 64 pixels wide and 48 high.
  const png = await readFile(new URL('fake-image.png', import.meta.url));
  await context.route('**/files/pictures/fake*', (route) =>
    route.fulfill({ body: png, contentType: 'image/png' }),
  );
  await context.route('**/v1/videos', async (route) => {
    const request = route.request();
    fake.orders.push({ body: request.postDataJSON(), idempotencyKey: request.headers()['idempotency-key'] });
    const { nextOrder } = fake;
    fake.nextOrder = null;
    if (nextOrder !== null) await nextOrder(route);
    else await json(route, 202, jobOf(`vid_${String(fake.orders.length).padStart(20, '0')}`));
  });
  await context.route(/\/v1\/videos\/vid_\w+$/, async (route) => {
    const id = route.request().url().slice(-24);
    fake.reads.set(id, (fake.reads.get(id) ?? 0) + 1);
    const error = { message: 'There is no such video.', code: 'not_found' };
    await (fake.unknown ? json(route, 404, { error }) : json(route, 200, jobOf(id)));
  });
  await context.route(/\/v1\/videos\/vid_\w+\/content$/, (route) => fake.content(route));
  return fake;
}

export const videoModel = (changes: object = {}): object => ({
  ...{ id: 'fake/video', object: 'model', name: 'Fake Video', supported_resolutions: ['480p', '720p'] },
  ...{ supported_aspect_ratios: ['16:9', '9:16'], supported_durations: [4, 8], supported_frame_images: [] },
  ...{ max_input_references: 0, generate_audio: true, seed: true, extends: false, from_price: '0.1' },
  ...changes,
});

export const imageModel = (changes: object = {}): object => ({
  ...{ id: 'fake/image', object: 'model', name: 'Fake Image', reads_images: true, streaming: false },
  parameters: {
    n: { type: 'range', min: 1, max: 4 },
    aspect_ratio: { type: 'enum', values: ['1:1', '16:9'] },
    input_references: { type: 'range', min: 0, max: 2 },
    background: { type: 'enum', values: [true, false] },
  },
  pricing: [{ billable: 'output_image', unit: 'image', usd: '0.04', variant: '2k' }],
  ...changes,
});
