import { z } from 'zod';
import { FORMAT_PATHS, type Model, type PriceOverride, type Prices } from '#core/catalog/catalog.ts';
import { isoTime, SECOND_MS } from '#core/clock.ts';
import { type AttoUsd, formatAttoUsd } from '#core/money.ts';

const price = () => z.string().meta({ description: 'US dollars per token, exact.', examples: ['0.0000004'] });

const tokenPrices = {
  prompt: price().optional(),
  completion: price().optional(),
  input_cache_read: price().optional(),
  input_cache_write: price().optional(),
  input_cache_write_1h: price().optional(),
};

const ModelPricing = z
  .object({
    ...tokenPrices,
    prompt: price(),
    completion: price(),
    internal_reasoning: price().optional(),
    request: z.string().optional().meta({ description: 'US dollars per call.' }),
    image: z.string().optional().meta({ description: 'US dollars per image in the prompt.' }),
    web_search: z.string().optional().meta({ description: 'US dollars per web search.' }),
    overrides: z
      .array(
        z
          .object({ min_prompt_tokens: z.int().nonnegative(), ...tokenPrices })
          .meta({ id: 'ModelPricingOverride' }),
      )
      .optional()
      .meta({
        description:
          'Other prices of the whole call: for prompts of more tokens than `min_prompt_tokens`, or, where it is 0, ' +
          'under conditions that are known after the call alone. The reserve takes the dearest.',
      }),
  })
  .meta({
    id: 'ModelPricing',
    description: 'What calls are charged by, at the dearest provider of the model.',
  });

/** Members that official clients of routers require, though they say the same as others, or nothing here. */
const routerMembers = {
  canonical_slug: z.string().meta({ description: 'The same as `id`.' }),
  architecture: z
    .object({
      modality: z.string().meta({ examples: ['text+image->text'] }),
      input_modalities: z.array(z.string()),
      output_modalities: z.array(z.string()),
      tokenizer: z.string(),
      instruct_type: z.null(),
    })
    .meta({ id: 'ModelArchitecture' }),
  top_provider: z
    .object({
      context_length: z.int().positive(),
      max_completion_tokens: z.int().positive().nullable(),
      is_moderated: z.boolean(),
    })
    .meta({ id: 'ModelTopProvider' }),
  per_request_limits: z.null(),
  default_parameters: z.null(),
  supported_voices: z.null(),
  links: z.object({ details: z.string() }).meta({ id: 'ModelLinks' }),
};

export const ModelEntry = z
  .object({
    id: z.string().meta({ examples: ['acme/small'] }),
    object: z.literal('model'),
    type: z.literal('model'),
    created: z.int().nonnegative().meta({ description: 'Unix seconds; 0 where it is not known.' }),
    created_at: z.string().meta({ description: 'The same, as ISO 8601 UTC.' }),
    owned_by: z.string(),
    name: z.string(),
    display_name: z.string(),
    context_length: z.int().positive().meta({ description: 'Tokens of prompt and answer together.' }),
    max_output_tokens: z
      .int()
      .positive()
      .nullable()
      .meta({ description: 'Longest answer; null: as long as the context allows.' }),
    input_modalities: z.array(z.string()),
    output_modalities: z.array(z.string()),
    description: z.string().meta({ description: 'Empty where it is not known.' }),
    supported_parameters: z
      .array(z.string())
      .meta({ description: 'Optional fields that it heeds, where that is known; else empty.' }),
    reasoning: z.looseObject({ mandatory: z.boolean() }).meta({
      id: 'ModelReasoning',
      description:
        'Whether the model always reasons, with the efforts and defaults of one that can, where they are known.',
    }),
    expires_on: z
      .string()
      .nullable()
      .meta({ description: 'Its last day, `YYYY-MM-DD`, where its end is announced.' }),
    endpoints: z.array(z.string()).meta({ description: 'The formats that it is called by.' }),
    pricing: ModelPricing,
    ...routerMembers,
  })
  .meta({ id: 'Model' });

/** Read by the pagers of the official clients of both vendors; there is one page. */
export const ModelList = z
  .object({
    object: z.literal('list'),
    data: z.array(ModelEntry),
    // One generator makes words of the values of an enum of booleans, and cannot read the list then.
    has_more: z.boolean().meta({ description: 'Always false.' }),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    total_count: z.int().nonnegative(),
    links: z.object({ next: z.string().nullable() }).meta({ id: 'ModelListLinks' }),
  })
  .meta({ id: 'ModelList' });
export type ModelList = z.infer<typeof ModelList>;

export function shapeModelList(models: readonly Model[]): ModelList {
  const data = models.map(shapeModel);
  return {
    object: 'list',
    data,
    has_more: false,
    first_id: data.at(0)?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    total_count: data.length,
    links: { next: null },
  };
}

function shapeModel(model: Model): z.infer<typeof ModelEntry> {
  const { id, name, contextLength, maxOutputTokens, createdAtMs, about } = model;
  return {
    id,
    object: 'model',
    type: 'model',
    created: Math.floor((createdAtMs ?? 0) / SECOND_MS),
    created_at: isoTime(createdAtMs ?? 0),
    owned_by: id.includes('/') ? (id.split('/', 1)[0] ?? '') : 'faregate',
    name,
    display_name: name,
    context_length: contextLength,
    max_output_tokens: maxOutputTokens,
    input_modalities: [...model.inputModalities],
    output_modalities: ['text'],
    description: about?.description ?? '',
    supported_parameters: [...(about?.supportedParameters ?? [])],
    reasoning: { mandatory: false, ...about?.reasoning },
    expires_on: about?.expiresOn ?? null,
    endpoints: Object.values(FORMAT_PATHS),
    pricing: shapePrices(model.endpoints.map(({ prices }) => prices)),
    ...shapeRouterMembers(model),
  };
}

function shapeRouterMembers({ id, contextLength, maxOutputTokens, inputModalities }: Model) {
  return {
    canonical_slug: id,
    architecture: {
      modality: `${inputModalities.join('+')}->text`,
      input_modalities: [...inputModalities],
      output_modalities: ['text'],
      tokenizer: 'Other',
      instruct_type: null,
    },
    top_provider: {
      context_length: contextLength,
      max_completion_tokens: maxOutputTokens,
      is_moderated: false,
    },
    per_request_limits: null,
    default_parameters: null,
    supported_voices: null,
    links: { details: '/v1/models' },
  };
}

/** Of several endpoints the dearest of each price: what a call is charged is never above it. */
function shapePrices(all: readonly Prices[]): z.infer<typeof ModelPricing> {
  const most = (pick: (prices: Prices) => AttoUsd | null): AttoUsd | null =>
    all.map(pick).reduce((a, b) => (a === null || (b !== null && b > a) ? b : a), null);
  const overrides = all.flatMap((prices) => prices.overrides.map(shapeOverride));
  return {
    prompt: formatAttoUsd(most(({ prompt }) => prompt) ?? 0n),
    completion: formatAttoUsd(most(({ completion }) => completion) ?? 0n),
    ...texts({
      input_cache_read: most(({ cacheRead }) => cacheRead),
      input_cache_write: most(({ cacheWrite }) => cacheWrite),
      input_cache_write_1h: most(({ cacheWrite1h }) => cacheWrite1h),
      internal_reasoning: most(({ internalReasoning }) => internalReasoning),
      request: most(({ request }) => (request === 0n ? null : request)),
      image: most(({ image }) => image),
      web_search: most(({ webSearch }) => webSearch),
    }),
    ...(overrides.length === 0 ? {} : { overrides }),
  };
}

const shapeOverride = (override: PriceOverride) => ({
  min_prompt_tokens: override.minPromptTokens ?? 0,
  ...texts({
    prompt: override.prompt,
    completion: override.completion,
    input_cache_read: override.cacheRead,
    input_cache_write: override.cacheWrite,
    input_cache_write_1h: override.cacheWrite1h,
  }),
});

function texts<Name extends string>(prices: Record<Name, AttoUsd | null>): { [name in Name]?: string } {
  const shown: { [name in Name]?: string } = {};
  for (const name in prices) {
    const each = prices[name];
    if (each !== null) shown[name] = formatAttoUsd(each);
  }
  return shown;
}
