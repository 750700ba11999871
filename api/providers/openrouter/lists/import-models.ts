import { z } from 'zod';
import type { Model } from '#core/catalog/catalog.ts';
import type { ImportedList } from '#core/catalog/import-source.ts';
import { hasReservedSuffix } from '#core/catalog/model-id.ts';
import { DAY_MS, SECOND_MS } from '#core/clock.ts';
import { ABOUT_ENTRIES_MAX, MODEL_ID_CHARS_MAX } from '#core/limits.ts';
import { importPrices, isFree, pricingRow } from './import-prices.ts';
import { readRows, rowList } from './read-rows.ts';

/** Characters kept of a model's description in a provider's list. */
const DESCRIPTION_CHARS_MAX = 500;

const tokens = z.int().positive().nullish().catch(null);

/** Only what we need, so that a new or odd field elsewhere in a row never costs us the model. */
const modelRow = z.object({
  id: z.string().min(1).max(MODEL_ID_CHARS_MAX),
  name: z.string().max(MODEL_ID_CHARS_MAX).optional().catch(undefined),
  created: z.int().nonnegative().optional().catch(undefined),
  context_length: tokens,
  expiration_date: z.string().nullish().catch(null),
  description: z.string().nullish().catch(null),
  supported_parameters: z
    .array(z.string().max(MODEL_ID_CHARS_MAX))
    .max(ABOUT_ENTRIES_MAX)
    .default([])
    .catch([]),
  reasoning: z.record(z.string(), z.unknown()).nullish().catch(null),
  architecture: z
    .object({
      input_modalities: z.array(z.string()).default(['text']),
      output_modalities: z.array(z.string()).default(['text']),
      tokenizer: z.string().nullish().catch(null),
    })
    .prefault({}),
  top_provider: z
    .object({ context_length: tokens, max_completion_tokens: tokens })
    .optional()
    .catch(undefined),
  pricing: pricingRow.nullable().catch(null),
});
type ModelRow = z.infer<typeof modelRow>;

/**
 * Reads an answer of `GET /models` in OpenRouter's dialect. `null`: it is no such list, or none of it can be
 * served; then the caller keeps what it has, because a provider's bad minute must not empty the catalogue.
 */
export function importModels(answer: unknown, providerId: string, nowMs: number): ImportedList<Model> | null {
  const parsed = rowList.safeParse(answer);
  if (!parsed.success) return null;
  const read = readRows(parsed.data.data, (each) => {
    const row = modelRow.safeParse(each);
    return row.success ? toModel(row.data, providerId, nowMs) : null;
  });
  return read.models.length === 0 ? null : read;
}

function toModel(row: ModelRow, providerId: string, nowMs: number): Model | null {
  const prices = row.pricing === null ? null : importPrices(row.pricing);
  const contextLength = row.context_length ?? row.top_provider?.context_length ?? null;
  // Without a bound of the context there is no bound of the cost.
  if (prices === null || contextLength === null) return null;
  if (isFree(prices) || isRouter(row) || isRetired(row, nowMs) || hasReservedSuffix(row.id)) return null;
  if (searchesInALoop(row)) return null;
  // An alias may point to a dearer model tomorrow, between the hold and the call.
  if (row.id.startsWith('~') || !row.architecture.output_modalities.includes('text')) return null;
  return {
    id: row.id,
    name: row.name ?? row.id,
    contextLength,
    maxOutputTokens: row.top_provider?.max_completion_tokens ?? null,
    inputModalities: row.architecture.input_modalities,
    createdAtMs: row.created === undefined ? null : row.created * SECOND_MS,
    about: {
      description: row.description?.slice(0, DESCRIPTION_CHARS_MAX) ?? null,
      supportedParameters: row.supported_parameters,
      reasoning: row.reasoning ?? null,
      expiresOn: row.expiration_date ?? null,
    },
    endpoints: [{ providerId, upstreamModel: row.id, contextLength: null, maxOutputTokens: null, prices }],
  };
}

/**
 * Routers pick the model after the call, so their price is known too late; most also say so by a price of -1.
 */
const isRouter = (row: ModelRow): boolean =>
  row.architecture.tokenizer === 'Router' || row.id.startsWith('openrouter/');

/**
 * Research models search as often as they like and read what they found as more prompt: tool loops with no step
 * limit (spec: What the service does, 7), which no hold covers. Only their name and the price of a search tell.
 */
const searchesInALoop = ({ id, pricing }: ModelRow): boolean =>
  typeof pricing?.web_search === 'bigint' && /deep-?research/.test(id);

/**
 * Served through its last day. A date that cannot be read retires nothing: the provider still lists the
 * model.
 */
function isRetired(row: ModelRow, nowMs: number): boolean {
  const lastDayMs = Date.parse(row.expiration_date ?? '');
  return !Number.isNaN(lastDayMs) && nowMs >= lastDayMs + DAY_MS;
}
