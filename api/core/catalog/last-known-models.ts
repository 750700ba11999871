import { attoUsd } from '../money.ts';
import type { Prices } from './catalog.ts';
import type { ModelSettings } from './catalog-settings.ts';

/**
 * These vendors publish no prices by interface, so these stand in for a first start with nothing but a key. They
 * are as last known to us and change without notice: THE OPERATOR HAS TO CHECK THEM against the vendor's
 * price page, or write models of its own in the configuration, which then replaces this list.
 */
const LAST_KNOWN: Readonly<Record<Vendor, readonly KnownModel[]>> = {
  openai: [
    {
      id: 'gpt-4o',
      name: 'GPT-4o',
      tokens: [128_000, 16_384],
      prices: ['0.0000025', '0.00001', '0.00000125'],
    },
    {
      id: 'gpt-4o-mini',
      name: 'GPT-4o mini',
      tokens: [128_000, 16_384],
      prices: ['0.00000015', '0.0000006', '0.000000075'],
    },
    {
      id: 'gpt-4.1',
      name: 'GPT-4.1',
      tokens: [1_047_576, 32_768],
      prices: ['0.000002', '0.000008', '0.0000005'],
    },
    {
      id: 'gpt-4.1-mini',
      name: 'GPT-4.1 mini',
      tokens: [1_047_576, 32_768],
      prices: ['0.0000004', '0.0000016', '0.0000001'],
    },
    {
      id: 'gpt-4.1-nano',
      name: 'GPT-4.1 nano',
      tokens: [1_047_576, 32_768],
      prices: ['0.0000001', '0.0000004', '0.000000025'],
    },
  ],
  anthropic: [
    {
      id: 'claude-opus-4.5',
      upstreamModel: 'claude-opus-4-5',
      name: 'Claude Opus 4.5',
      tokens: [200_000, 64_000],
      prices: ['0.000005', '0.000025', '0.0000005', '0.00000625', '0.00001'],
    },
    {
      id: 'claude-sonnet-4.5',
      upstreamModel: 'claude-sonnet-4-5',
      name: 'Claude Sonnet 4.5',
      tokens: [200_000, 64_000],
      prices: ['0.000003', '0.000015', '0.0000003', '0.00000375', '0.000006'],
    },
    {
      id: 'claude-haiku-4.5',
      upstreamModel: 'claude-haiku-4-5',
      name: 'Claude Haiku 4.5',
      tokens: [200_000, 64_000],
      prices: ['0.000001', '0.000005', '0.0000001', '0.00000125', '0.000002'],
    },
  ],
};

export type Vendor = 'openai' | 'anthropic';

interface KnownModel {
  /** Below the vendor's name. */
  id: string;
  /** The vendor's own id, where it differs. */
  upstreamModel?: string;
  name: string;
  tokens: readonly [contextLength: number, maxOutputTokens: number];
  /** Dollars per token. */
  prices: readonly [
    prompt: string,
    completion: string,
    cacheRead: string,
    cacheWrite?: string,
    cacheWrite1h?: string,
  ];
}

/** Served by the provider that is called like its vendor. */
export const lastKnownModels = (vendor: Vendor): ModelSettings[] =>
  LAST_KNOWN[vendor].map(({ id, upstreamModel = id, name, tokens, prices }) => ({
    id: `${vendor}/${id}`,
    name,
    contextLength: tokens[0],
    maxOutputTokens: tokens[1],
    inputModalities: vendor === 'anthropic' ? ['text', 'image', 'file'] : ['text', 'image'],
    endpoints: [
      {
        providerId: vendor,
        upstreamModel,
        contextLength: null,
        maxOutputTokens: null,
        prices: {
          ...readPrices(prices),
          webSearch: vendor === 'anthropic' ? attoUsd(ANTHROPIC_SEARCH_USD) : null,
        },
      },
    ],
  }));

/** Ten dollars for a thousand searches of Claude's own, whichever the model. */
const ANTHROPIC_SEARCH_USD = '0.01';

function readPrices([prompt, completion, cacheRead, cacheWrite, cacheWrite1h]: KnownModel['prices']): Omit<
  Prices,
  'webSearch'
> {
  return {
    prompt: attoUsd(prompt),
    completion: attoUsd(completion),
    request: 0n,
    cacheRead: attoUsd(cacheRead),
    cacheWrite: cacheWrite === undefined ? null : attoUsd(cacheWrite),
    cacheWrite1h: cacheWrite1h === undefined ? null : attoUsd(cacheWrite1h),
    internalReasoning: null,
    image: null,
    overrides: [],
  };
}
