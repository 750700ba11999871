import { z } from 'zod';
import { hasReservedSuffix } from '#core/catalog/model-id.ts';
import { modelName, modelStopSwitch, price, text, wholeNumber } from './values.ts';

const tokenCount = wholeNumber(1, 1_000_000_000);

const override = z.strictObject({
  minPromptTokens: wholeNumber(0, 1_000_000_000).describe('For prompts of more tokens than this.'),
  prompt: price.optional().describe('Dollars per prompt token instead.'),
  completion: price.optional().describe('Dollars per answer token instead.'),
  cacheRead: price.optional().describe('Dollars per prompt token read from the cache instead.'),
  cacheWrite: price.optional().describe('Dollars per prompt token written to the cache instead.'),
  cacheWrite1h: price.optional().describe('The same for an hour.'),
});

const pricing = z.strictObject({
  prompt: price.describe('Dollars per prompt token, as a decimal string.'),
  completion: price.describe('Dollars per answer token.'),
  request: price.optional().describe('Dollars per call.'),
  cacheRead: price
    .optional()
    .describe('Dollars per prompt token read from the cache; else the price of prompt.'),
  cacheWrite: price
    .optional()
    .describe('Dollars per prompt token written to the cache; else the price of prompt.'),
  cacheWrite1h: price.optional().describe('The same for an hour; else the price of cacheWrite.'),
  internalReasoning: price.optional().describe('Dollars per reasoning token; else the price of completion.'),
  image: price.optional().describe('Dollars per image in the prompt.'),
  webSearch: price.optional().describe('Dollars per web search.'),
  overrides: z
    .array(override)
    .max(20)
    .default([])
    .describe('Other prices for long prompts; the last that applies counts.'),
});

const endpoint = z.strictObject({
  provider: text(63).describe('Id of a provider above.'),
  model: modelName.describe("The model's id there."),
  contextLength: tokenCount
    .optional()
    .describe('Where it differs from the model: tokens of prompt and answer together.'),
  maxOutputTokens: tokenCount
    .optional()
    .describe('Where it differs from the model: longest answer in tokens.'),
  pricing: pricing.describe('What the provider takes, in dollars; the margin is added by priceFactor.'),
});

export const modelFile = z.strictObject({
  id: modelName
    .refine(
      (id) => !hasReservedSuffix(id),
      'ends in a suffix that callers add to ids (:online, :free and the like)',
    )
    .describe('What callers send as `model`.'),
  name: text(256).optional().describe('Name for people; else the id.'),
  contextLength: tokenCount.optional().describe('Tokens of prompt and answer together.'),
  maxOutputTokens: tokenCount
    .optional()
    .describe('Longest answer in tokens; else as long as the context allows.'),
  inputModalities: z
    .array(z.enum(['text', 'image', 'file', 'audio', 'video']))
    .refine((all) => all.includes('text'), 'has to include text')
    .default(['text'])
    .describe('What a prompt may hold.'),
  stopped: modelStopSwitch,
  endpoints: z
    .array(endpoint)
    .min(1)
    .max(20)
    .optional()
    .describe('Who can run it, in the order in which they are tried.'),
});
export type ModelFile = z.infer<typeof modelFile>;
export type EndpointFile = z.infer<typeof endpoint>;
