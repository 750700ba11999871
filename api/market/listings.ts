import { MINUTE_MS } from '#core/clock.ts';
import { parseMarketId } from '#core/events/market-id.ts';
import type { MarketListing } from '#core/events/market-listing.ts';
import type { MarketStore } from '#core/market/market-store.ts';
import { type MarketError, marketError } from '../contract/market-errors.ts';
import { Cached, type CacheOptions } from './cached.ts';

/** How long the last list of markets is used while the store cannot be reached. */
export const LISTINGS_KEPT_MS = MINUTE_MS;

/** Of all markets that were ever listed. */
export interface Listings {
  readAtMs: number;
  byId: ReadonlyMap<string, ListedMarket>;
}

export interface ListedMarket {
  listing: MarketListing;
  endsAtMs: number;
}

/** What there was a minute ago still counts where the store cannot be reached: markets open and close by the clock. */
export const keepListings = (options: CacheOptions, store: MarketStore): Cached<Listings> =>
  new Cached(options, async (before) => {
    const nowMs = options.clock.monotonicMs();
    try {
      return { readAtMs: nowMs, byId: byId(await store.readListings()) };
    } catch (error) {
      if (before !== null && nowMs - before.readAtMs <= LISTINGS_KEPT_MS) return before;
      throw error;
    }
  });

function byId(listings: readonly MarketListing[]): Map<string, ListedMarket> {
  const found = new Map<string, ListedMarket>();
  for (const listing of listings) {
    const id = parseMarketId(listing.market);
    if (id !== null) found.set(id.text, { listing, endsAtMs: id.endsAtMs });
  }
  return found;
}

/** Spec: Errors, Market endpoints. */
export function findOpen({ byId }: Listings, market: string, nowMs: number): ListedMarket | MarketError {
  const listed = byId.get(market);
  if (listed !== undefined && isOpen(listed, nowMs)) return listed;
  return byId.size === 0 ? marketError('not_found') : marketError('unknown_market');
}

/** The first to end first. */
export const openMarkets = ({ byId }: Listings, nowMs: number): ListedMarket[] =>
  [...byId.values()].filter((listed) => isOpen(listed, nowMs)).sort(inOrder);

export const newestOf = (listings: Listings, nowMs: number): ListedMarket | null =>
  openMarkets(listings, nowMs).at(-1) ?? null;

const isOpen = ({ listing, endsAtMs }: ListedMarket, nowMs: number): boolean =>
  listing.opensAt <= nowMs && nowMs < endsAtMs;

/** Of two that end together the one that opens later is the newer one. */
const inOrder = (a: ListedMarket, b: ListedMarket): number =>
  a.endsAtMs - b.endsAtMs ||
  a.listing.opensAt - b.listing.opensAt ||
  (a.listing.market < b.listing.market ? -1 : 1);
