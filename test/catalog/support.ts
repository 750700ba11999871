import type { CatalogSettings, ModelSettings, ProviderSettings } from '#core/catalog/catalog-settings.ts';
import { parseAttoUsd } from '#core/money.ts';
import { dialects } from '../../api/providers/openai/dialects.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';

export const settings = (given: Partial<CatalogSettings> = {}): CatalogSettings => ({
  stopped: false,
  providers: [provider()],
  models: [],
  stoppedModels: [],
  videos: { models: [], stopped: [], changes: new Map() },
  images: { models: [], stopped: [] },
  ...given,
});

export const provider = (given: Partial<ProviderSettings> = {}): ProviderSettings => ({
  id: 'p',
  kind: providerKinds.openrouter,
  formats: ['chat', 'responses', 'messages'],
  cancel: 'stops_billing',
  dialect: dialects.other,
  images: null,
  baseUrl: 'http://localhost:1/v1',
  apiKey: null,
  settings: {},
  catalog: 'import',
  priceFactorPpm: 1_000_000n,
  priceJumpPpm: 3_000_000n,
  listMaxAgeMs: 86_400_000,
  stopped: false,
  ...given,
});

export const model = (
  id: string,
  prompt = '0.000001',
  given: Partial<ModelSettings> = {},
): ModelSettings => ({
  id,
  name: id,
  contextLength: 1_000,
  maxOutputTokens: 100,
  inputModalities: ['text'],
  endpoints: [
    {
      providerId: 'p',
      upstreamModel: id,
      contextLength: null,
      maxOutputTokens: null,
      prices: {
        prompt: atto(prompt),
        completion: atto('0.000002'),
        request: 0n,
        cacheRead: null,
        cacheWrite: null,
        cacheWrite1h: null,
        internalReasoning: null,
        image: null,
        webSearch: null,
        overrides: [],
      },
    },
  ],
  ...given,
});

export function atto(usd: string): bigint {
  const parsed = parseAttoUsd(usd);
  if (parsed === null) throw new Error(`${usd} is no price`);
  return parsed;
}

/** A row as OpenRouter lists it. */
export const row = (id: string, given: Record<string, unknown> = {}): Record<string, unknown> => ({
  id,
  canonical_slug: `${id}-20260101`,
  name: `Name of ${id}`,
  created: 1_750_000_000,
  context_length: 128_000,
  architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'], tokenizer: 'GPT' },
  top_provider: { context_length: 128_000, max_completion_tokens: 16_384, is_moderated: true },
  pricing: { prompt: '0.0000025', completion: '0.00001' },
  per_request_limits: null,
  supported_parameters: ['max_tokens'],
  ...given,
});
