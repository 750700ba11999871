import { z } from 'zod';
import {
  billables,
  billedUnits,
  type ImageModel,
  type ImageParameter,
  type ImagePrice,
} from '#core/catalog/image-model.ts';
import { isBounded } from '#core/catalog/image-price.ts';
import { knownImageTokens } from '#core/catalog/known-image-tokens.ts';
import { SECOND_MS } from '#core/clock.ts';
import { ABOUT_ENTRIES_MAX, IMAGE_REFERENCES_MAX, IMAGES_MAX, MODEL_ID_CHARS_MAX } from '#core/limits.ts';
import { decimalPrice } from './import-prices.ts';
import type { MediaRow } from './read-rows.ts';

/** JSON has it as a number; its shortest text is what its writer meant. */
const price = z.number().nonnegative().transform(String).pipe(decimalPrice);

const priceLine = z.object({
  // Another one, such as `input_font`, bills for something that a request does not bound.
  billable: z.enum(billables),
  unit: z.enum(billedUnits),
  cost_usd: price,
  variant: z.string().min(1).max(64).nullish(),
});

const descriptor = z.union([
  z.object({
    type: z.literal('enum'),
    values: z.array(z.union([z.string().max(MODEL_ID_CHARS_MAX), z.number()])).max(ABOUT_ENTRIES_MAX),
  }),
  z.object({ type: z.literal('range'), min: z.number(), max: z.number() }),
  z.object({ type: z.literal('boolean') }),
]);
const parameterRows = z.record(z.string().max(64), descriptor.nullable().catch(null));

/** Strict where a price is concerned: one that cannot be read makes the endpoint unusable. */
export const imageEndpoint = z.object({
  provider_slug: z.string().min(1).max(MODEL_ID_CHARS_MAX).nullish().catch(null),
  provider_tag: z.string().min(1).max(MODEL_ID_CHARS_MAX).nullish().catch(null),
  supported_parameters: parameterRows.default({}),
  supports_streaming: z.boolean().nullish().catch(null),
  pricing: z.array(priceLine).min(1).max(ABOUT_ENTRIES_MAX),
});

/** `null`: a request has no bound of what it costs, or costs nothing, or what comes is no image. */
export function toImageModel(
  row: MediaRow,
  endpoint: z.infer<typeof imageEndpoint>,
  providerId: string,
): ImageModel | null {
  const parameters = readParameters(endpoint.supported_parameters);
  if (parameters === null) return null;
  const tokens = knownImageTokens(row.id);
  const pricing = endpoint.pricing.map(
    ({ billable, unit, cost_usd, variant }): ImagePrice => ({
      billable,
      unit,
      price: cost_usd,
      variant: variant ?? null,
    }),
  );
  const model: ImageModel = {
    id: row.id,
    name: row.name ?? row.id,
    createdAtMs: row.created === undefined ? null : row.created * SECOND_MS,
    readsImages: 'input_references' in endpoint.supported_parameters,
    streaming: endpoint.supports_streaming === true,
    parameters,
    pricing,
    outputTokensMax: tokens?.output ?? new Map(),
    inputImageTokensMax: tokens?.input ?? null,
    providerId,
    upstreamModel: row.id,
    endpointTag: endpoint.provider_tag ?? endpoint.provider_slug ?? null,
  };
  return isBounded(model) ? model : null;
}

/** Fields that are the gateway's own to say. */
const OWN: ReadonlySet<string> = new Set([
  'model',
  'prompt',
  'stream',
  'provider',
  'user',
  'response_format',
  'callback_url',
]);

/** `null`: it makes nothing but drawings, which are programs. */
function readParameters(rows: z.infer<typeof parameterRows>): Map<string, ImageParameter> | null {
  const parameters = new Map<string, ImageParameter>();
  for (const [name, row] of Object.entries(rows)) {
    if (OWN.has(name) || !/^[a-z][a-z0-9_]*$/.test(name)) continue;
    const parameter = row === null ? null : toParameter(name, row);
    if (name === 'output_format' && row?.type === 'enum' && parameter === null) return null;
    if (parameter !== null) parameters.set(name, parameter);
  }
  return parameters;
}

function toParameter(name: string, row: z.infer<typeof descriptor>): ImageParameter | null {
  switch (row.type) {
    case 'boolean':
      return { type: 'enum', values: [false, true] };
    case 'enum': {
      const values = row.values.filter((value) => name !== 'output_format' || value !== 'svg');
      return values.length === 0 ? null : { type: 'enum', values };
    }
    case 'range': {
      const most = name === 'n' ? IMAGES_MAX : name === 'input_references' ? IMAGE_REFERENCES_MAX : row.max;
      return row.min <= row.max ? { type: 'range', min: row.min, max: Math.min(row.max, most) } : null;
    }
    default:
      return row satisfies never;
  }
}
