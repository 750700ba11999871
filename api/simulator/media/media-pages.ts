import type { SimImageModel } from './image-models.ts';
import { simImageModels } from './image-models.ts';
import { simVideoModels } from './video-models.ts';

const CREATED_AT_SECONDS = Date.UTC(2026, 0, 1) / 1_000;

/** The body of `GET /videos/models`. */
export const videoModelsPage = (): unknown => ({
  data: simVideoModels.map((model) => ({
    id: model.id,
    canonical_slug: `${model.id}-20260101`,
    name: model.name,
    created: CREATED_AT_SECONDS,
    supported_resolutions: model.resolutions,
    supported_aspect_ratios: model.aspectRatios,
    supported_sizes: null,
    supported_durations: model.durations,
    supported_frame_images: model.frameImages,
    generate_audio: model.generateAudio,
    seed: model.seed,
    allowed_passthrough_parameters: [],
    pricing_skus: model.skus,
    // Not of the dialect; without it nobody could try references before a configuration names them.
    ...(model.references > 0 ? { max_input_references: model.references } : {}),
  })),
});

/** The body of `GET /images/models`: it has no prices. */
export const imageModelsPage = (): unknown => ({
  data: simImageModels.map(({ id, name, parameters, streaming }) => ({
    id,
    name,
    created: CREATED_AT_SECONDS,
    architecture: { input_modalities: ['text'], output_modalities: ['image'] },
    supported_parameters: parameters,
    supports_streaming: streaming,
    endpoints: `/api/v1/images/models/${id}/endpoints`,
  })),
});

/** The body of `GET /images/models/{author}/{slug}/endpoints`. */
export const imageEndpointsPage = ({ id, parameters, streaming, endpoints }: SimImageModel): unknown => ({
  id,
  endpoints: endpoints.map(({ providerName, tag, pricing }) => ({
    provider_name: providerName,
    provider_slug: tag.split('/', 1)[0],
    provider_tag: tag,
    supported_parameters: parameters,
    allowed_passthrough_parameters: [],
    supports_streaming: streaming,
    pricing,
  })),
});
