import { z } from 'zod';
import { billables, billedUnits } from '#core/catalog/image-model.ts';
import { ABOUT_ENTRIES_MAX } from '#core/limits.ts';
import { mediaModelId, modelStopSwitch, price, text, upstreamPlace, wholeNumber } from './values.ts';

const tokenCount = wholeNumber(1, 1_000_000);
const variant = text(64);

const value = z.union([z.string().max(64), z.int(), z.boolean()], {
  error: 'has to be a text, a whole number, true or false',
});
const parameter = z
  .strictObject({
    values: z.array(value).min(1).max(ABOUT_ENTRIES_MAX).optional().describe('What it takes.'),
    min: z.number().optional().describe('Of a range instead: the least.'),
    max: z.number().optional().describe('The most.'),
  })
  .refine(
    ({ values, min, max }) =>
      values === undefined
        ? min !== undefined && max !== undefined && min <= max
        : min === undefined && max === undefined,
    'needs values, or a min and a max that is not below it',
  );

const priceLine = z.strictObject({
  billable: z.enum(billables).describe('What is billed.'),
  unit: z.enum(billedUnits).describe('By what it is counted.'),
  usd: price.describe('Dollars per unit, as a decimal string; the margin is added by priceFactor.'),
  variant: variant.optional().describe('The size tier or quality that this price is for, as "2k" or "high".'),
});

export const imageModelFile = z.strictObject({
  id: mediaModelId,
  name: text(256).optional().describe('Name for people; else the id.'),
  ...upstreamPlace,
  endpointTag: text(256).optional().describe("Pins one of a router's endpoints, whose prices these are."),
  streaming: z.boolean().optional().describe('Whether it streams partial images.'),
  parameters: z
    .record(z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'has to be the name of a field'), parameter)
    .optional()
    .describe(
      'The fields that it takes besides model and prompt, with their values; input_references where it reads images.',
    ),
  pricing: z
    .array(priceLine)
    .min(1)
    .max(ABOUT_ENTRIES_MAX)
    .optional()
    .describe('One line for each item that is billed.'),
  outputTokensMax: z
    .record(variant, tokenCount)
    .optional()
    .describe(
      'Where images are billed by the token: the most of one, by size tier or quality, or for "any".',
    ),
  inputImageTokensMax: tokenCount.optional().describe('The same for an image that is read.'),
  stopped: modelStopSwitch,
});
export type ImageModelFile = z.infer<typeof imageModelFile>;
