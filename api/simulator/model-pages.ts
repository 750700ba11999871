import type { SimEndpoint, SimModel } from './models.ts';
import { simModels } from './models.ts';

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
