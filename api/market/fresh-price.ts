import type { BookView } from '#core/market/book-view.ts';
import { maxBigint, minBigint, parseNanoUsd } from '#core/money.ts';

const ONE_NANO = 1_000_000_000n;

/** Spec: Order book, freshPrice. Not below what somebody bids already, and never above a dollar for a dollar. */
export function freshPrice(offerNano: bigint, { bids }: BookView): bigint {
  const [best] = bids;
  const bidNano = best === undefined ? null : parseNanoUsd(best.price);
  return minBigint(ONE_NANO, maxBigint(offerNano, bidNano ?? 0n));
}
