import type { KnownModel } from '#core/catalog/provider-kind.ts';

/**
 * The vendor publishes no prices by interface, so these stand in for a first start with nothing but a key. They are as last known and
 * change without notice: the operator must check them against the vendor's price page, or write models into the configuration,
 * which then replace this list.
 */
export const lastKnownModels: readonly KnownModel[] = [
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
];
