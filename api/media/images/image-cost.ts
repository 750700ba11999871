import type { Provider } from '#core/catalog/catalog.ts';
import { imageHoldAtto } from '#core/catalog/image-price.ts';
import type { SavedPrice } from '#core/events/ledger-event.ts';
import { type AttoUsd, attoToNanoUp } from '#core/money.ts';
import type { CallCost } from '../../inference/price/call-cost.ts';
import { noTokens, type Usage } from '../../inference/price/usage.ts';
import type { ImageCall } from './image-call.ts';
import type { ImagePlan } from './image-plan.ts';

/**
 * What the provider reported, an explicit zero included; else the price lines of what it delivered. Of an answer that a
 * caller did not take to its end, what the provider has on record.
 */
export function costOfImages(
  { options: { plan }, hungUp, generationId }: ImageCall,
  usage: Usage | null,
  delivered: number,
  missing: 'estimated' | 'recorded' = hungUp ? 'recorded' : 'estimated',
): CallCost {
  const { provider } = plan;
  const reports = provider.kind.capabilities.reportsCost;
  const tokens = usage?.tokens ?? noTokens;
  if (reports && usage !== null && usage.reportedAttoUsd !== null) {
    return { known: true, nanoUsd: attoToNanoUp(usage.reportedAttoUsd, provider.priceFactorPpm), tokens };
  }
  const atto = priceLines(plan, delivered);
  if (provider.kind.price !== null && missing === 'recorded' && generationId !== null) {
    const price = fixedPrice(provider, atto);
    const counted = { tokensKnown: false, deliveredTokens: 0, promptRead: true as const };
    return { known: false, tokens, pending: { price, generationId, ...counted } };
  }
  return {
    known: true,
    nanoUsd: attoToNanoUp(atto),
    tokens,
    ...(reports ? { isEstimated: true as const } : {}),
  };
}

/** As the hold is counted, for so many images. */
const priceLines = ({ model, shape }: ImagePlan, images: number): AttoUsd =>
  imageHoldAtto(model, { ...shape, images }) ?? 0n;

/** Images and videos are no tokens: what they cost stands beside them. */
export const fixedPrice = (provider: Provider, atto: AttoUsd): SavedPrice => ({
  providerId: provider.id,
  promptAtto: '0',
  completionAtto: '0',
  cacheReadAtto: '0',
  requestAtto: String(atto),
  factorPpm: String(provider.priceFactorPpm),
  promptEstimateTokens: 0,
});
