import type { ImageSettings, VideoSettings } from '#core/catalog/catalog-settings.ts';
import type { ImageModel, ImageParameter } from '#core/catalog/image-model.ts';
import { priced } from '#core/catalog/priced-video-model.ts';
import type { VideoModel } from '#core/catalog/video-model.ts';
import { attoUsd } from '#core/money.ts';
import type { ImageModelFile } from './image-model-file.ts';
import type { VideoModelFile } from './video-model-file.ts';

/** Only after the schema and the checks across the file: what they have proven is not asked again. */
export function toVideoSettings(files: readonly VideoModelFile[]): VideoSettings {
  const live = files.filter(({ stopped }) => !stopped);
  const changes = live.flatMap((file): [string, ReturnType<typeof changesOf>][] =>
    file.pricing === undefined ? [[file.id, changesOf(file)]] : [],
  );
  return {
    models: live.flatMap((file) => toVideoModel(file) ?? []).flatMap((model) => priced(model) ?? []),
    stopped: files.filter(({ stopped }) => stopped).map(({ id }) => id),
    changes: new Map(changes),
  };
}

const changesOf = ({ name, maxInputReferences, extends: carriesOn }: VideoModelFile) => ({
  ...(name === undefined ? {} : { name }),
  ...(maxInputReferences === undefined ? {} : { maxInputReferences }),
  ...(carriesOn === undefined ? {} : { extends: carriesOn }),
});

/** `null`: it only changes an imported one. */
export function toVideoModel(file: VideoModelFile): VideoModel | null {
  const { id, provider, model, resolutions, aspectRatios, durations, pricing } = file;
  if (!provider || !model || !resolutions || !aspectRatios || !durations || !pricing) return null;
  return {
    id,
    name: file.name ?? id,
    createdAtMs: null,
    supportedResolutions: resolutions,
    supportedAspectRatios: aspectRatios,
    supportedDurations: [...new Set(durations)].sort((a, b) => a - b),
    supportedFrameImages: file.frameImages ?? [],
    maxInputReferences: file.maxInputReferences ?? 0,
    generateAudio: file.generateAudio ?? false,
    seed: file.seed ?? false,
    extends: file.extends ?? false,
    providerId: provider,
    upstreamModel: model,
    skus: new Map(Object.entries(pricing).map(([key, usd]) => [key, attoUsd(usd)])),
  };
}

export const toImageSettings = (files: readonly ImageModelFile[]): ImageSettings => ({
  models: files.flatMap((file) => (file.stopped ? [] : (toImageModel(file) ?? []))),
  stopped: files.filter(({ stopped }) => stopped).map(({ id }) => id),
});

/** `null`: it is not whole. */
export function toImageModel(file: ImageModelFile): ImageModel | null {
  const { id, provider, model, pricing, parameters = {} } = file;
  if (!provider || !model || !pricing) return null;
  return {
    id,
    name: file.name ?? id,
    createdAtMs: null,
    readsImages: 'input_references' in parameters,
    streaming: file.streaming ?? false,
    parameters: new Map(
      Object.entries(parameters).map(([name, given]): [string, ImageParameter] => [
        name,
        given.values === undefined
          ? { type: 'range', min: given.min ?? 0, max: given.max ?? 0 }
          : { type: 'enum', values: given.values },
      ]),
    ),
    pricing: pricing.map(({ billable, unit, usd, variant }) => ({
      billable,
      unit,
      price: attoUsd(usd),
      variant: variant ?? null,
    })),
    outputTokensMax: new Map(
      Object.entries(file.outputTokensMax ?? {}).map(([of, tokens]) => [of === 'any' ? '' : of, tokens]),
    ),
    inputImageTokensMax: file.inputImageTokensMax ?? null,
    providerId: provider,
    upstreamModel: model,
    endpointTag: file.endpointTag ?? null,
  };
}
