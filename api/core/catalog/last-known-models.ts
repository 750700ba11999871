import { parseAttoUsd } from '../money.ts';
import type { ModelSettings } from './catalog-settings.ts';

/**
 * These vendors publish no prices by interface, so these stand in for a first start with nothing but a key. They
 * are as last known to us and change without notice: THE OPERATOR HAS TO CHECK THEM against the vendor's
 * price page, or write models of its own in the configuration, which then replaces this list.
 */
const LAST_KNOWN: Readonly<Record<Vendor, readonly Row[]>> = {
  openai: [
    ['gpt-4o', 'GPT-4o', 128_000, 16_384, '0.0000025', '0.00000125', null, '0.00001'],
    ['gpt-4o-mini', 'GPT-4o mini', 128_000, 16_384, '0.00000015', '0.000000075', null, '0.0000006'],
    ['gpt-4.1', 'GPT-4.1', 1_047_576, 32_768, '0.000002', '0.0000005', null, '0.000008'],
    ['gpt-4.1-mini', 'GPT-4.1 mini', 1_047_576, 32_768, '0.0000004', '0.0000001', null, '0.0000016'],
    ['gpt-4.1-nano', 'GPT-4.1 nano', 1_047_576, 32_768, '0.0000001', '0.000000025', null, '0.0000004'],
  ],
  // A write is priced as one for an hour, the dearest that a request can ask for.
  anthropic: [
    ['claude-opus-4.5', 'Claude Opus 4.5', 200_000, 64_000, '0.000005', '0.0000005', '0.00001', '0.000025'],
    [
      'claude-sonnet-4.5',
      'Claude Sonnet 4.5',
      200_000,
      64_000,
      '0.000003',
      '0.0000003',
      '0.000006',
      '0.000015',
    ],
    [
      'claude-haiku-4.5',
      'Claude Haiku 4.5',
      200_000,
      64_000,
      '0.000001',
      '0.0000001',
      '0.000002',
      '0.000005',
    ],
  ],
};

export type Vendor = 'openai' | 'anthropic';

/**
 * Id, name, context, longest answer; dollars per prompt token, per prompt token read from the cache and written to it,
 * per answer token.
 */
type Row = readonly [string, string, number, number, string, string, string | null, string];

/** Served by the provider that is called like its vendor. */
export const lastKnownModels = (vendor: Vendor): ModelSettings[] =>
  LAST_KNOWN[vendor].map(
    ([id, name, contextLength, maxOutputTokens, prompt, cacheRead, cacheWrite, completion]) => ({
      id: `${vendor}/${id}`,
      name,
      contextLength,
      maxOutputTokens,
      inputModalities: vendor === 'anthropic' ? ['text', 'image', 'file'] : ['text', 'image'],
      endpoints: [
        {
          providerId: vendor,
          upstreamModel: vendor === 'anthropic' ? id.replace('.', '-') : id,
          contextLength: null,
          maxOutputTokens: null,
          prices: {
            prompt: price(prompt),
            completion: price(completion),
            request: 0n,
            cacheRead: price(cacheRead),
            cacheWrite: cacheWrite === null ? null : price(cacheWrite),
            internalReasoning: null,
            image: null,
            webSearch: null,
            overrides: [],
          },
        },
      ],
    }),
  );

function price(text: string): bigint {
  const atto = parseAttoUsd(text);
  if (atto === null) throw new Error('A price of the shipped list is no decimal.');
  return atto;
}
