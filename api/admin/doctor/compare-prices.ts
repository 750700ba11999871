import type { Model, Prices } from '#core/catalog/catalog.ts';
import type { ModelSettings, ProviderSettings } from '#core/catalog/catalog-settings.ts';
import { formatAttoUsd, timesFactorUp } from '#core/money.ts';
import { type Finding, problem, warning } from './finding.ts';

/** What the configuration says of a model at one provider, the margin not in it. */
export interface OwnPrices extends Pick<ModelSettings['endpoints'][number], 'upstreamModel' | 'prices'> {
  modelId: string;
}

interface Comparison extends Pick<ProviderSettings, 'priceFactorPpm'> {
  check: string;
  own: readonly OwnPrices[];
  /** As the provider states them. */
  listed: readonly Model[];
}

const COMPARED = ['prompt', 'completion', 'request', 'cacheRead', 'cacheWrite'] as const;
type Compared = (typeof COMPARED)[number];

/** A price below the provider's loses money with each call; one that only differs may be meant so. */
export function comparePrices({ check, own, listed, priceFactorPpm }: Comparison): Finding[] {
  const byId = new Map(listed.map((model) => [model.id, model.endpoints[0]?.prices]));
  return own.flatMap(({ modelId, upstreamModel, prices }) => {
    const theirs = byId.get(upstreamModel);
    if (theirs === undefined) return [];
    const differing = COMPARED.filter((name) => differs(prices, theirs, name));
    if (differing.length === 0) return [];
    const found = `${modelId}: ${differing.map((name) => describe(prices, theirs, name)).join(', ')}`;
    const loses = differing.some(
      (name) => timesFactorUp(prices[name] ?? 0n, priceFactorPpm) < (theirs[name] ?? 0n),
    );
    return [
      loses
        ? problem(
            check,
            found,
            'Raise the price in the configuration, or priceFactor: each call loses money.',
          )
        : warning(check, found, 'Take the listed price, unless yours is meant so.'),
    ];
  });
}

/** A price that only one of the two has is another way of billing. */
const differs = (ours: Prices, theirs: Prices, name: Compared): boolean =>
  ours[name] !== null && theirs[name] !== null && ours[name] !== theirs[name];

const describe = (ours: Prices, theirs: Prices, name: Compared): string =>
  `${name} is ${formatAttoUsd(ours[name] ?? 0n)}, and it lists ${formatAttoUsd(theirs[name] ?? 0n)}`;
