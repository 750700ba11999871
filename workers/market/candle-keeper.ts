import { type Clock, DAY_MS, HOUR_MS, SECOND_MS, type Timer } from '#core/clock.ts';
import {
  type BatchHandler,
  type BatchOutcome,
  type FeedBatch,
  parseMarketRecord,
  type RecordOutcome,
} from '#core/events/feed-record.ts';
import { parseMarketId } from '#core/events/market-id.ts';
import { type MarketTrade, marketTrade } from '#core/events/market-trade.ts';
import { limitTasks } from '#core/limit-tasks.ts';
import { LOT_DAYS_MAX } from '#core/limits.ts';
import type { Log } from '#core/log.ts';
import type { LiveMarkets } from '#core/market/live-markets.ts';
import type { MarketStore } from '#core/market/market-store.ts';
import { MarketFold, type TradeTaken } from './market-fold.ts';

/** Changed candles are published at most this often. */
const CANDLES_PUBLISH_MS = SECOND_MS / 4;
/** Unchanged candles are published again this often. */
const CANDLES_REPEAT_MS = SECOND_MS;
/** Markets whose candles a process has in memory. Others are read again. */
export const MARKETS_FOLDED_MAX = 64;
/**
 * A trade further ahead of our clock is refused, so that a date in the far future does not drop stored
 * trades.
 */
const TRADE_IN_FUTURE_MAX_MS = HOUR_MS;

export interface CandleKeeperOptions {
  store: MarketStore;
  live: Pick<LiveMarkets, 'publishCandles'>;
  clock: Clock;
  log: Log;
}

/**
 * Folds trades into candles: each batch is stored before its offset is kept, so whoever is killed in between is followed
 * by one that reads the same trades again, and finds which of them are in which candle.
 */
export class CandleKeeper implements BatchHandler {
  readonly #options: CandleKeeperOptions;
  /** The one that was traded last is the last. */
  readonly #markets = new Map<string, KeptMarket>();
  /** `null`: no market is folded here. */
  #timer: Timer | null = null;

  constructor(options: CandleKeeperOptions) {
    this.#options = options;
  }

  /**
   * A record that is no trade at all is left to the handler of the same topic that moves credit, so that it is kept apart
   * once.
   */
  async handle({ partition, records }: FeedBatch): Promise<BatchOutcome> {
    const parsed = records.map((record) => this.#parse(record));
    const trades = parsed.filter((each) => 'market' in each);
    const byMarket = [...Map.groupBy(trades, ({ market }) => market)];
    const takenOf = new Map(
      await Promise.all(
        byMarket.map(async ([market, some]) => {
          const kept = this.#kept(market, partition);
          return [market, (await this.#take(kept, some))?.values() ?? null] as const;
        }),
      ),
    );
    this.#letGo();
    const outcomes: RecordOutcome[] = [];
    for (const each of parsed) {
      if ('outcome' in each) outcomes.push(each);
      else {
        const taken = takenOf.get(each.market)?.next().value;
        outcomes.push(taken === undefined ? { outcome: 'try_again' } : outcomeOf(taken));
        if (taken === undefined) break;
      }
    }
    const last = records[outcomes.filter(({ outcome }) => outcome !== 'try_again').length - 1];
    return { outcomes, resumeOffset: last === undefined ? null : last.offset + 1n };
  }

  forget(partition: number): void {
    for (const [market, kept] of this.#markets) {
      if (kept.partition === partition) this.#markets.delete(market);
    }
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    const all = [...this.#markets.values()];
    this.#markets.clear();
    await Promise.all(all.map(({ inTurn }) => inTurn(async () => {})));
  }

  #parse(record: FeedBatch['records'][number]): MarketTrade | RecordOutcome {
    const parsed = parseMarketRecord(marketTrade, record);
    if (!parsed.ok) return { outcome: 'done' };
    const { market, at } = parsed.record;
    const endsAtMs = endOf(market);
    if (at >= endsAtMs || at < endsAtMs - LOT_DAYS_MAX * DAY_MS) {
      return { outcome: 'dead_letter', reason: 'at: the market is not open then, so it is in no candle' };
    }
    const isFuture = at > this.#options.clock.now() + TRADE_IN_FUTURE_MAX_MS;
    return isFuture
      ? { outcome: 'dead_letter', reason: 'at: is in the future, so it is in no candle' }
      : parsed.record;
  }

  #kept(market: string, partition: number): KeptMarket {
    const kept = this.#markets.get(market) ?? {
      ...{ market, endsAtMs: endOf(market), partition, fold: null },
      ...{ publishedAtMs: Number.NEGATIVE_INFINITY, isPublishing: false },
      ...{ turns: 0, inTurn: limitTasks(1) },
    };
    this.#markets.delete(market);
    this.#markets.set(market, kept);
    this.#timer ??= this.#schedule();
    return kept;
  }

  /** However many names of markets come: the store has all that is let go. */
  #letGo(): void {
    let tooMany = this.#markets.size - MARKETS_FOLDED_MAX;
    for (const [market, { turns }] of this.#markets) {
      if (tooMany <= 0) return;
      if (turns > 0) continue;
      this.#markets.delete(market);
      tooMany--;
    }
  }

  /** `null`: not all of it is stored for good. */
  #take(kept: KeptMarket, trades: readonly MarketTrade[]): Promise<TradeTaken[] | null> {
    const { market, endsAtMs } = kept;
    const { store, clock } = this.#options;
    return this.#inTurn(kept, async () => {
      kept.fold ??= await MarketFold.load({ market, endsAtMs, store, clock });
      const taken = await kept.fold.take(trades);
      if (taken === null) kept.fold = null;
      else if (clock.monotonicMs() - kept.publishedAtMs >= CANDLES_PUBLISH_MS) this.#publish(kept);
      return taken;
    });
  }

  /** What fails halfway is not believed any more: the next one reads anew what was stored. */
  #inTurn<T>(kept: KeptMarket, act: () => Promise<T>): Promise<T | null> {
    kept.turns++;
    return kept.inTurn(async () => {
      try {
        return await act();
      } catch (error) {
        kept.fold = null;
        const { market } = kept;
        this.#options.log.warn('candles could not be stored or read, it is tried again', { market, error });
        return null;
      } finally {
        kept.turns--;
      }
    });
  }

  /** Not waited for: what could not be said now is said again within a second. */
  #publish(kept: KeptMarket): void {
    const { live, clock, log } = this.#options;
    if (kept.fold === null || kept.isPublishing || this.#markets.get(kept.market) !== kept) return;
    kept.isPublishing = true;
    kept.publishedAtMs = clock.monotonicMs();
    live
      .publishCandles(kept.market, kept.fold.live())
      .catch((error) => log.warn('candles could not be published', { market: kept.market, error }))
      .finally(() => {
        kept.isPublishing = false;
      });
  }

  #schedule(): Timer {
    return this.#options.clock.setTimer(CANDLES_REPEAT_MS, () => {
      for (const kept of this.#markets.values()) this.#repeat(kept);
      this.#timer = this.#markets.size === 0 ? null : this.#schedule();
    });
  }

  #repeat(kept: KeptMarket): void {
    if (kept.endsAtMs + TRADE_IN_FUTURE_MAX_MS < this.#options.clock.now()) this.#markets.delete(kept.market);
    else if (kept.fold !== null && kept.turns === 0) void this.#inTurn(kept, () => this.#lookAgain(kept));
  }

  /** While nothing is traded, too, a rebuild is noticed. */
  async #lookAgain(kept: KeptMarket): Promise<void> {
    const { market, endsAtMs } = kept;
    const { store, clock } = this.#options;
    if (await kept.fold?.isReplaced()) kept.fold = await MarketFold.load({ market, endsAtMs, store, clock });
    this.#publish(kept);
  }
}

interface KeptMarket {
  market: string;
  endsAtMs: number;
  partition: number;
  /** `null`: to be read from the store. */
  fold: MarketFold | null;
  publishedAtMs: number;
  isPublishing: boolean;
  /** What is at work on it, or waits for that. */
  turns: number;
  inTurn: <T>(task: () => Promise<T>) => Promise<T>;
}

const endOf = (market: string): number => parseMarketId(market)?.endsAtMs ?? 0;

const APART: Partial<Record<TradeTaken, string>> = {
  too_late: 'seq: comes too late, so it is in no candle',
  taken_number: 'seq: a trade of another time had it before, so it is in no candle',
};

function outcomeOf(taken: TradeTaken): RecordOutcome {
  const reason = APART[taken];
  return reason === undefined ? { outcome: 'done' } : { outcome: 'dead_letter', reason };
}
