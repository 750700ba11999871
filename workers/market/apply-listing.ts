import type { Clock } from '#core/clock.ts';
import { type HandleRecord, parseFeedRecord, type RecordOutcome } from '#core/events/feed-record.ts';
import { lastMarketEndMs, parseMarketId, TOO_FAR } from '#core/events/market-id.ts';
import { type MarketListing, marketListing } from '#core/events/market-listing.ts';
import { CLOCK_APART_MAX_MS } from '#core/limits.ts';
import type { Log } from '#core/log.ts';
import type { MarketStore } from '#core/market/market-store.ts';

/** A listing with a coarser grid is a mistake of the exchange. */
const PRICE_TICK_MAX_NANO = 1_000_000_000n;
const SIZE_STEP_MAX_NANO_USD = 1_000_000_000_000n;

const DONE: RecordOutcome = { outcome: 'done' };
const TRY_AGAIN: RecordOutcome = { outcome: 'try_again' };

/** Keeps a record of `dex.markets.v1`. Old and repeated ones change nothing: each market counts its versions. */
export const createApplyListing =
  ({ store, clock, log }: { store: Pick<MarketStore, 'putListing'>; clock: Clock; log: Log }): HandleRecord =>
  async (bytes) => {
    // How a compacted topic forgets a market. That one has closed by itself.
    if (bytes.length === 0) return DONE;
    const parsed = parseFeedRecord(marketListing, bytes);
    if (!parsed.ok) return { outcome: 'dead_letter', reason: parsed.reason };
    const listing = parsed.record;
    const refused = refuse(listing, clock.now());
    if (refused !== null) return refused;
    try {
      await store.putListing(listing);
      return DONE;
    } catch (error) {
      log.error('the list of markets cannot be written, it is tried again', { error });
      return TRY_AGAIN;
    }
  };

function refuse(
  { market, opensAt, priceTick, sizeStep }: MarketListing,
  nowMs: number,
): RecordOutcome | null {
  const endsAtMs = parseMarketId(market)?.endsAtMs ?? 0;
  if (endsAtMs <= nowMs) return deadLetter('market: has ended');
  if (opensAt >= endsAtMs) return deadLetter('opensAt: is not before the end of the market');
  if (priceTick > PRICE_TICK_MAX_NANO) return deadLetter('priceTick: is above 1');
  if (sizeStep > SIZE_STEP_MAX_NANO_USD) return deadLetter('sizeStep: is above 1000');
  if (endsAtMs <= lastMarketEndMs(nowMs)) return null;
  // The writer's clock is a little ahead around midnight.
  if (endsAtMs <= lastMarketEndMs(nowMs + CLOCK_APART_MAX_MS)) return TRY_AGAIN;
  return deadLetter(TOO_FAR);
}

const deadLetter = (reason: string): RecordOutcome => ({ outcome: 'dead_letter', reason });
