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
  /** Of every video. */
  job: FakeJob;
  /** What the next order gets instead of a job. */
  nextOrder: ((route: Route) => Promise<void>) | null;
}

export async function fakeMedia(
  context: BrowserContext,
  models: { videos?: unknown[]; images?: unknown[] },
): Promise<FakeMedia> {
  const fake: FakeMedia = { orders: [], reads: new Map(), job: { status: 'pending' }, nextOrder: null };
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
    await json(route, 200, jobOf(id));
  });
  return fake;
}

export const videoModel = (changes: object = {}): object => ({
  ...{ id: 'fake/video', object: 'model', name: 'Fake Video', supported_resolutions: ['480p', '720p'] },
  ...{ supported_aspect_ratios: ['16:9', '9:16'], supported_durations: [4, 8], supported_frame_images: [] },
  ...{ max_input_references: 0, generate_audio: true, seed: true, extends: false, from_price: '0.1' },
  ...changes,
});
