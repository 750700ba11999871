import type { KnownModel } from '#core/catalog/provider-kind.ts';

/** The same for each of them. */
const SHARED: Pick<KnownModel, 'inputModalities' | 'tokens' | 'webSearch'> = {
  inputModalities: ['text', 'image', 'file'],
  tokens: [200_000, 64_000],
  // Ten dollars for a thousand searches of Claude's own.
  webSearch: '0.01',
};

/**
 * The vendor publishes no prices by interface, so these stand in for a first start with nothing but a key. They are as last known and
 * change without notice: the operator must check them against the vendor's price page, or write models into the configuration,
 * which then replace this list.
 */
export const lastKnownModels: readonly KnownModel[] = [
  {
    ...SHARED,
    id: 'claude-opus-4.5',
    upstreamModel: 'claude-opus-4-5',
    name: 'Claude Opus 4.5',
    prices: ['0.000005', '0.000025', '0.0000005', '0.00000625', '0.00001'],
  },
  {
    ...SHARED,
    id: 'claude-sonnet-4.5',
    upstreamModel: 'claude-sonnet-4-5',
    name: 'Claude Sonnet 4.5',
    prices: ['0.000003', '0.000015', '0.0000003', '0.00000375', '0.000006'],
  },
  {
    ...SHARED,
    id: 'claude-haiku-4.5',
    upstreamModel: 'claude-haiku-4-5',
    name: 'Claude Haiku 4.5',
    prices: ['0.000001', '0.000005', '0.0000001', '0.00000125', '0.000002'],
  },
];
