import { z } from 'zod';
import { DAY_MS, isoTime, SECOND_MS } from '#core/clock.ts';
import { parseMarketId } from '#core/events/market-id.ts';
import type { MarketListing } from '#core/events/market-listing.ts';
import { formatDecimal9 } from '#core/events/market-values.ts';
import { answerOrRefuse } from '../../contract/errors.ts';
import type { AdminDeps } from '../context.ts';
import { adminExamples } from '../examples.ts';
import { marketsOff, unavailable } from '../refusals.ts';
import { type MarketState, MarketStateList } from '../schemas/market-state.ts';
import { operatorProcedure, t } from '../trpc.ts';

export const marketsRouter = t.router({
  list: operatorProcedure({
    method: 'GET',
    path: '/markets',
    operationId: 'listMarkets',
    tag: 'Markets',
    summary: 'List markets',
    description:
      'All that were ever listed, closed ones too, with their prices and how far their book has come.',
    errors: ['not_found'],
    examples: { answer: { markets: [adminExamples.market], fed_by: 'requests' } },
  })
    .input(z.strictObject({}))
    .output(MarketStateList)
    .query(async ({ ctx }) => {
      const { log, feeds } = ctx.deps;
      if (feeds === 'off') return answerOrRefuse<never>(marketsOff());
      const markets = await readMarkets(ctx.deps).catch((error: unknown) => {
        log.warn('markets not read', { error });
        return null;
      });
      return answerOrRefuse(
        markets === null
          ? unavailable('The store of markets does not answer now; try again once it is back.')
          : { markets, fed_by: feeds === 'kafka' ? 'kafka' : 'requests' },
      );
    }),
});

/** All that were ever listed. Rejects where their store cannot be reached. */
async function readMarkets(deps: Pick<AdminDeps, 'markets' | 'clock'>): Promise<MarketState[]> {
  const nowMs = deps.clock.now();
  const listings = await deps.markets.store.readListings();
  const latestFirst = listings.sort(
    (a, b) => endOf(b) - endOf(a) || b.opensAt - a.opensAt || (a.market < b.market ? 1 : -1),
  );
  const newest = latestFirst.find((listing) => isOpen(listing, nowMs));
  return Promise.all(
    latestFirst.map(async (listing) => ({
      ...(await readState(deps, listing, nowMs)),
      newest: listing === newest,
    })),
  );
}

async function readState(
  { markets: { store, live } }: Pick<AdminDeps, 'markets'>,
  listing: MarketListing,
  nowMs: number,
): Promise<Omit<MarketState, 'newest'>> {
  const { market, opensAt, priceTick, sizeStep, freshPrice } = listing;
  const endsAtMs = endOf(listing);
  const [cursor, days, minutes, book] = await Promise.all([
    store.readCursor(market),
    store.readCandles(market, '1d', 0, endsAtMs),
    store.readCandles(market, '1m', nowMs - DAY_MS, nowMs),
    isOpen(listing, nowMs) ? live.readBook(market) : null,
  ]);
  const served = book === 'unavailable' ? null : book;
  return {
    id: market,
    opens_at: isoTime(opensAt),
    ends_at: isoTime(endsAtMs),
    open: isOpen(listing, nowMs),
    last_price: priceText(days.at(-1)?.closeNano ?? null),
    best_bid: served?.bids[0]?.price ?? null,
    best_ask: served?.asks[0]?.price ?? null,
    fresh_price: priceText(freshPrice),
    volume_24h: formatDecimal9(minutes.reduce((sum, { volumeNano }) => sum + volumeNano, 0n)),
    book_seq: served?.seq ?? null,
    book_age_seconds: served === null ? null : Math.max(0, Math.floor((nowMs - served.atMs) / SECOND_MS)),
    trade_seq: Math.max(cursor?.throughSeq ?? 0, ...(cursor?.aheadSeqs ?? [])),
    price_tick: formatDecimal9(priceTick),
    size_step: formatDecimal9(sizeStep),
  };
}

const endOf = ({ market }: MarketListing): number => parseMarketId(market)?.endsAtMs ?? 0;
const isOpen = (listing: MarketListing, nowMs: number): boolean =>
  listing.opensAt <= nowMs && nowMs < endOf(listing);
const priceText = (nano: bigint | null): string | null => (nano === null ? null : formatDecimal9(nano));
