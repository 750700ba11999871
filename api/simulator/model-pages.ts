import { type SimImageModel, simImageModels } from './media/image-models.ts';
import { simVideoModels } from './media/video-models.ts';
import { type SimEndpoint, type SimModel, simModels } from './models.ts';

const CREATED_AT_SECONDS = Date.UTC(2026, 0, 1) / 1_000;

const SUPPORTED_PARAMETERS = [
  'max_tokens',
  'max_completion_tokens',
  'response_format',
  'seed',
  'stop',
  'structured_outputs',
  'temperature',
  'tool_choice',
  'tools',
  'top_p',
];

/** The body of `GET /models`. */
export function modelsPage(): unknown {
  return { data: simModels.map(modelRow), total_count: simModels.length, links: { next: null } };
}

/** The body of `GET /models/{author}/{slug}/endpoints`. */
export function endpointsPage(model: SimModel): unknown {
  return {
    data: {
      id: model.id,
      name: model.name,
      created: CREATED_AT_SECONDS,
      description: model.description,
      architecture: architecture(model),
      endpoints: model.endpoints.map((endpoint) => endpointRow(model, endpoint)),
    },
  };
}

function modelRow(model: SimModel): unknown {
  return {
    id: model.id,
    canonical_slug: `${model.id}-20260101`,
    name: model.name,
    created: CREATED_AT_SECONDS,
    description: model.description,
    context_length: model.contextLength,
    architecture: architecture(model),
    pricing: model.endpoints[0].pricing,
    top_provider: {
      context_length: model.contextLength,
      max_completion_tokens: model.maxOutputTokens,
      is_moderated: false,
    },
    per_request_limits: null,
    supported_parameters: supportedParameters(model),
    default_parameters: null,
    ...(model.reasons
      ? { reasoning: { mandatory: false, supported_efforts: ['low', 'medium', 'high'] } }
      : {}),
    expiration_date: model.expirationDate,
  };
}

function endpointRow(model: SimModel, endpoint: SimEndpoint): unknown {
  return {
    name: `${endpoint.providerName} | ${model.id}`,
    model_id: model.id,
    model_name: model.name,
    provider_name: endpoint.providerName,
    tag: endpoint.tag,
    pricing: { ...endpoint.pricing, discount: 0 },
    context_length: model.contextLength,
    max_completion_tokens: model.maxOutputTokens,
    max_prompt_tokens: null,
    quantization: 'unknown',
    supported_parameters: supportedParameters(model),
    status: 0,
    uptime_last_30m: 100,
  };
}

const supportedParameters = (model: SimModel): string[] =>
  model.reasons
    ? [...SUPPORTED_PARAMETERS, 'reasoning', 'reasoning_effort', 'include_reasoning']
    : SUPPORTED_PARAMETERS;

const architecture = (model: SimModel): unknown => ({
  modality: `${model.inputModalities.join('+')}->text`,
  input_modalities: model.inputModalities,
  output_modalities: ['text'],
  tokenizer: model.tokenizer,
  instruct_type: null,
});

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
