import { type ZodType, z } from 'zod';
import { FORMAT_PATHS } from '#core/catalog/catalog.ts';
import type { ProviderKind } from '#core/catalog/provider-kind.ts';
import { DAY_MS, MINUTE_MS } from '#core/clock.ts';
import { CATALOG_STALE_MS } from '#core/limits.ts';
import { DIALECT_NAMES } from '../providers/openai/dialects.ts';
import { PROVIDER_KIND_NAMES, providerKinds } from '../providers/provider-kinds.ts';
import { factor, secretFile, stopSwitch, variableName, webAddress, wholeNumber } from './values.ts';

const ENDS_IN_A_FORMAT = /\/(chat\/completions|completions|responses|messages)\/?$/;

const withoutKindFields = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, 'has to be lower-case letters, digits, dots and dashes')
    .describe('Name of this provider in this file and in the admin API; callers never see it.'),
  kind: z
    .enum(PROVIDER_KIND_NAMES)
    .describe(`Who it is, or, for openai, any compatible server: ${PROVIDER_KIND_NAMES.join(', ')}.`),
  dialect: z
    .enum(DIALECT_NAMES)
    .optional()
    .describe(
      'For openai: whose server it is, because they differ in what they take. ' +
        "Default: by the vendor's own address; self-hosted at a private address, a name that leads to one or cannot be " +
        'resolved, where only fields that are known to be harmless are sent; else other, which any compatible server ' +
        'understands and which passes every field and link on.',
    ),
  images: z
    .enum(['url', 'inline'])
    .optional()
    .describe(
      'url: it fetches linked images itself. inline: it does not, or should not from inside your network; the gateway ' +
        'fetches them, from public addresses only, and sends them along. Default: inline for the dialects vllm, sglang, ' +
        'ollama and self-hosted, else url.',
    ),
  formats: z
    .array(z.enum(Object.values(FORMAT_PATHS)))
    .min(1)
    .refine(
      (formats) => formats.some((format) => format !== 'responses'),
      'has to name chat/completions or messages',
    )
    .optional()
    .describe(
      'The formats that it speaks; calls in the others are translated. ' +
        'Default: for openai by its dialect, at least chat/completions; messages for anthropic; all three for the others.',
    ),
  cancel: z
    .enum(['stops_billing', 'bills_full'])
    .default('stops_billing')
    .describe(
      'What it does when the connection is closed because a caller hung up. stops_billing: it works and bills no further, so the ' +
        'connection is closed at once, the call pays what was written by then, and answers that nobody streams are streamed from it, ' +
        'too. bills_full: it bills the whole answer anyway, so the answer is read on for at most a minute for its usage. Images are ' +
        'read on whatever stands here.',
    ),
  baseUrl: webAddress
    .refine(
      (url) => !ENDS_IN_A_FORMAT.test(url),
      'has to end before /chat/completions and the like, which are appended',
    )
    .optional()
    .describe(
      'Address that /chat/completions, /responses or /messages is appended to, so mostly one that ends in /v1. Needed for openai; ' +
        'without it openrouter and anthropic are at their own, and a simulator is started inside the gateway.',
    ),
  apiKeyEnv: variableName.optional().describe('Environment variable that holds the key.'),
  apiKeyFile: secretFile.describe(
    'File that holds the key, such as a mounted Secret; read again when it changes.',
  ),
  catalog: z
    .enum(['import', 'none'])
    .optional()
    .describe(
      'import = take models and prices from the provider, refreshed hourly; none = only what stands below. ' +
        'Default: none for openai and anthropic, import for the others.',
    ),
  priceFactor: factor
    .default('1')
    .describe("The operator's margin: every price of this provider, imported or not, is multiplied by it."),
  priceJumpFactor: factor
    .default('3')
    .describe(
      'An imported price that becomes this many times dearer or cheaper at once is held back, and the old one stays, ' +
        'until `faregate catalog reload` takes it.',
    ),
  catalogMaxAgeMs: wholeNumber(MINUTE_MS, 30 * DAY_MS)
    .default(CATALOG_STALE_MS)
    .describe(
      'An imported list that could not be refreshed for longer, in milliseconds, is not served from: its models answer ' +
        'catalog_unavailable.',
    ),
  stopped: stopSwitch.describe('Stop switch of this provider.'),
});

/** Each kind adds fields of its own. Which of them a provider may and must have, its kind decides. */
export function providerSchema(kinds: Readonly<Record<string, ProviderKind>>): typeof withoutKindFields {
  const ofKinds = Object.assign(
    {},
    ...Object.values(kinds).map(({ configuration }) => configuration.settings),
  );
  // The compiler need not know them: only their kind reads them.
  const optional: object = Object.fromEntries(
    Object.entries<ZodType>(ofKinds).map(([name, schema]) => [name, schema.optional()]),
  );
  return z.strictObject({ ...optional, ...withoutKindFields.shape }).superRefine((file, context) => {
    const settings = kinds[file.kind]?.configuration.settings ?? {};
    const refuse = (name: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [name], message });
    for (const name of Object.keys(ofKinds)) {
      if (!Reflect.has(file, name)) {
        if (settings[name]?.safeParse(undefined).success === false)
          refuse(name, 'is missing: this kind of provider needs it');
      } else if (settings[name] === undefined) refuse(name, 'is not a field of this kind of provider');
    }
  });
}

export const providerFile = providerSchema(providerKinds);
export type ProviderFile = z.infer<typeof providerFile>;
