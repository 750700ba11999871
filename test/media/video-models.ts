import type { Catalog } from '#core/catalog/catalog.ts';
import { createNearestNames } from '#core/catalog/nearest-names.ts';
import type { VideoModel } from '#core/catalog/video-model.ts';
import { attoUsd } from '#core/money.ts';
import { provider, testCatalog } from '../inference/support.ts';

/** Of everything something. */
const film: VideoModel = {
  id: 'acme/film',
  name: 'Acme Film',
  createdAtMs: null,
  supportedResolutions: ['480p', '720p'],
  supportedAspectRatios: ['16:9', '9:16'],
  supportedDurations: [4, 8],
  supportedFrameImages: ['first_frame', 'last_frame'],
  maxInputReferences: 2,
  generateAudio: true,
  seed: true,
  extends: true,
  providerId: 'router',
  upstreamModel: 'vendor/film-2026',
  skus: new Map([
    ['duration_seconds_with_audio', attoUsd('0.10')],
    ['duration_seconds_without_audio', attoUsd('0.05')],
  ]),
};

const plain: VideoModel = {
  ...film,
  id: 'acme/plain',
  supportedFrameImages: [],
  maxInputReferences: 0,
  generateAudio: false,
  seed: false,
  extends: false,
};

export const videoModels: readonly VideoModel[] = [
  film,
  plain,
  { ...plain, id: 'acme/opening', supportedFrameImages: ['first_frame'] },
  { ...plain, id: 'acme/ending', supportedFrameImages: ['last_frame'] },
  { ...plain, id: 'acme/unpriced', skus: new Map([['duration_seconds_480p', attoUsd('0.05')]]) },
  { ...film, id: 'other/film', providerId: 'other' },
  { ...plain, id: 'acme/halted', providerId: 'halted' },
];

export function videoCatalog(): Catalog & { stopped: boolean } {
  const nearest = createNearestNames(videoModels.map(({ id }) => id));
  const providers = ['router', 'other', 'halted'].map((id) => provider({ id, stopped: id === 'halted' }));
  const catalog = {
    ...testCatalog({ providers }),
    stopped: false,
    gatewayStopped: () => catalog.stopped,
    videoModels: () => videoModels,
    findVideoModel(id: string): ReturnType<Catalog['findVideoModel']> {
      const model = videoModels.find((each) => each.id === id);
      if (model !== undefined) return { status: 'served', model };
      if (id === 'acme/retired') return { status: 'not_served' };
      if (id === 'acme/stale') return { status: 'unavailable' };
      return { status: 'unknown', nearest: nearest(id) };
    },
    imageModels: () => [],
    findImageModel: (): ReturnType<Catalog['findImageModel']> => ({ status: 'unknown', nearest: [] }),
  };
  return catalog;
}

/** An order that is taken. */
export const order = (extra: object = {}) => ({
  model: 'acme/film',
  prompt: 'A paper boat.',
  duration: 4,
  resolution: '480p',
  aspect_ratio: '16:9',
  ...extra,
});

export const IMAGE = 'https://images.example.com/cat.png';
export const reference = (url: unknown = IMAGE) => ({ type: 'image_url', image_url: { url } });
export const frame = (frame_type: unknown = 'first_frame', url: unknown = IMAGE) => ({
  ...reference(url),
  frame_type,
});
