import { z } from 'zod';
import { factor, stopSwitch, variableName, webAddress } from './values.ts';

export const providerFile = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, 'has to be lower-case letters, digits, dots and dashes')
    .describe('Name of this provider in this file and in the admin API; callers never see it.'),
  kind: z
    .enum(['openrouter', 'openai', 'simulator'], {
      error: ({ input }) =>
        input === 'anthropic'
          ? 'anthropic is not served yet; use openrouter, or openai for a server that speaks that dialect'
          : undefined,
    })
    .describe('What it speaks: openrouter, openai (any compatible server), or simulator.'),
  baseUrl: webAddress
    .optional()
    .describe(
      'Address that /chat/completions is appended to. Needed for openai; ' +
        'without it openrouter is at its own, and a simulator is started inside the gateway.',
    ),
  apiKeyEnv: variableName.optional().describe('Environment variable that holds the key.'),
  apiKeyFile: z
    .string()
    .min(1)
    .max(4_096)
    .optional()
    .describe('File that holds the key, such as a mounted Secret; read again when it changes.'),
  catalog: z
    .enum(['import', 'none'])
    .optional()
    .describe(
      'import = take models and prices from the provider, refreshed hourly; none = only what stands below. ' +
        'Default: none for openai, import for the others.',
    ),
  priceFactor: factor
    .default('1')
    .describe("The operator's margin: every price of this provider, imported or not, is multiplied by it."),
  stopped: stopSwitch.describe('Stop switch of this provider.'),
});
export type ProviderFile = z.infer<typeof providerFile>;
