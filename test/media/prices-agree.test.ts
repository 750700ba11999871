import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCatalog, type LiveCatalog } from '#core/catalog/create-catalog.ts';
import { createFetchProviderJson } from '#core/catalog/fetch-provider-json.ts';
import { imageHoldAtto } from '#core/catalog/image-price.ts';
import { videoPriceAtto } from '#core/catalog/video-price.ts';
import { systemClock } from '#core/clock.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { readImageRequest } from '../../api/simulator/media/image-request.ts';
import { readVideoRequest } from '../../api/simulator/media/video-request.ts';
import { provider, settings } from '../catalog/support.ts';
import { startTestProvider, type TestProvider } from '../support/provider.ts';

/** The simulator says its prices twice, by keys and lines, and by hand: the gateway reads the first, it bills by the second. */
let simulator: TestProvider;
let catalog: LiveCatalog;

beforeAll(async () => {
  simulator = await startTestProvider();
  const nothing = () => undefined;
  catalog = createCatalog({
    settings: settings({
      providers: [provider({ kind: providerKinds.simulator, baseUrl: simulator.baseUrl })],
    }),
    clock: systemClock,
    log: { info: nothing, warn: nothing, error: nothing },
    fetchJson: createFetchProviderJson(systemClock),
    bundledSimulatorUrl: null,
  });
  await catalog.refresh();
});
afterAll(async () => {
  catalog.close();
  await simulator.close();
});

const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };

test('a video costs at the provider what was held for it, or a little less where it counts tokens', () => {
  const models = catalog.videoModels();
  expect(models).toHaveLength(3);
  for (const model of models) {
    const images = model.supportedFrameImages.length > 0 ? 'frame_images' : 'input_references';
    const most = images === 'frame_images' ? model.supportedFrameImages.length : model.maxInputReferences;
    fc.assert(
      fc.property(
        fc.constantFrom(...model.supportedResolutions),
        fc.constantFrom(...model.supportedAspectRatios),
        fc.constantFrom(...model.supportedDurations),
        fc.boolean(),
        fc.integer({ min: 0, max: most }),
        (resolution, aspectRatio, durationSeconds, sound, count) => {
          const generateAudio = sound && model.generateAudio;
          const given = Array.from({ length: count }, (_, at) => ({
            ...image,
            ...(images === 'frame_images' ? { frame_type: model.supportedFrameImages[at] } : {}),
          }));
          const reading = readVideoRequest(
            {
              model: model.id,
              prompt: 'A cat',
              duration: durationSeconds,
              resolution,
              aspect_ratio: aspectRatio,
              generate_audio: generateAudio,
              [images]: given,
            },
            'seed',
          );
          if (!reading.ok) throw new Error(reading.message);
          const billed = reading.request.model.priceAtto(reading.request.video);
          const held = videoPriceAtto(model, {
            durationSeconds,
            resolution,
            aspectRatio,
            generateAudio,
            frameImages: images === 'frame_images' ? count : 0,
            inputReferences: images === 'frame_images' ? 0 : count,
            continues: false,
          });
          if (model.skus.has('video_tokens')) expect(held ?? 0n).toBeGreaterThanOrEqual(billed);
          else expect(held).toBe(billed);
        },
      ),
    );
  }
});

test('images never cost more at the provider than was held for them', () => {
  const models = catalog.imageModels();
  expect(models).toHaveLength(3);
  for (const model of models) {
    const of = (name: string) => {
      const parameter = model.parameters.get(name);
      return parameter?.type === 'enum' ? [null, ...parameter.values.map(String)] : [null];
    };
    const most = (name: string, otherwise: number) => {
      const parameter = model.parameters.get(name);
      return parameter?.type === 'range' ? parameter.max : otherwise;
    };
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, maxLength: 400 }),
        fc.constantFrom(...of('resolution')),
        fc.constantFrom(...of('aspect_ratio')),
        fc.integer({ min: 1, max: most('n', 1) }),
        fc.integer({ min: 0, max: most('input_references', 0) }),
        (prompt, resolution, aspectRatio, images, references) => {
          const reading = readImageRequest(
            {
              model: model.upstreamModel,
              prompt,
              n: images,
              ...(resolution === null ? {} : { resolution }),
              ...(aspectRatio === null ? {} : { aspect_ratio: aspectRatio }),
              input_references: Array.from({ length: references }, () => image),
              provider: { only: [model.endpointTag], allow_fallbacks: false },
            },
            'seed',
          );
          if (!reading.ok) throw new Error(reading.message);
          const promptBytes = Buffer.byteLength(prompt);
          const held = imageHoldAtto(model, {
            images,
            promptBytes,
            references,
            resolution,
            size: null,
            quality: null,
          });
          expect(held ?? 0n).toBeGreaterThanOrEqual(reading.request.costAtto);
        },
      ),
    );
  }
});
