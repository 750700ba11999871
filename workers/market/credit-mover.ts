import { executeDurably } from '#core/accounts/execute-durably.ts';
import {
  type BatchHandler,
  type BatchOutcome,
  type FeedBatch,
  parseMarketRecord,
  type RecordOutcome,
} from '#core/events/feed-record.ts';
import { parseMarketId } from '#core/events/market-id.ts';
import { type MarketTrade, marketTrade } from '#core/events/market-trade.ts';
import type { TradeRejection } from '#core/events/rejected-trade.ts';
import type { MoveOutResult } from '#core/ledger/command.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import { limitTasks } from '#core/limit-tasks.ts';
import type { Log } from '#core/log.ts';
import { formatUsd, type NanoUsd } from '#core/money.ts';

/** Moves of credit that run at one time in one partition. */
export const MOVES_AT_ONCE = 64;

export interface CreditMoverOptions {
  ledger: Pick<Ledger, 'execute'>;
  /** Resolves once it stands where the exchange reads. The same trade may be rejected again, with the same reason. */
  reject: (trade: MarketTrade, reason: TradeRejection) => Promise<void>;
  log: Log;
}

/** Since this process began. */
export interface MoveCounts {
  moved: number;
  rejected: number;
  /** Of credit that ended, or met its buyer's cap, between its two halves. */
  expiredNanoUsd: NanoUsd;
}

/** The moves of one partition, for as long as this process reads it. */
interface PartitionMoves {
  /** Records behind one that is to be tried again, which come again with it. */
  doneAhead: Map<bigint, RecordOutcome>;
  /** By the ledger's id of the trade. */
  inTransit: Map<string, NanoUsd>;
}

const TRY_AGAIN: RecordOutcome = { outcome: 'try_again' };

/**
 * Moves the credit of each trade from its seller to its buyer, once. The ledger's two steps know their trade, so whoever
 * repeats a record, and however often, only ends what was begun: first the seller's half, durable, then the buyer's. A
 * record is done when both are, or when the seller's has been refused and the exchange can read so.
 */
export class CreditMover implements BatchHandler {
  readonly #options: CreditMoverOptions;
  readonly #partitions = new Map<number, PartitionMoves>();
  readonly #batches = new Set<Promise<unknown>>();
  readonly #counts: MoveCounts = { moved: 0, rejected: 0, expiredNanoUsd: 0n };
  #stopped = false;

  constructor(options: CreditMoverOptions) {
    this.#options = options;
  }

  async handle(batch: FeedBatch): Promise<BatchOutcome> {
    const running = this.#handle(batch);
    this.#batches.add(running);
    try {
      return await running;
    } finally {
      this.#batches.delete(running);
    }
  }

  forget(partition: number): void {
    this.#partitions.delete(partition);
  }

  /** What has begun is brought to its end where the ledger answers; what has not is left to the next process. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.allSettled(this.#batches);
  }

  /** Credit that has left its seller and not yet come to its buyer, as far as this process moves it. */
  get inTransitNanoUsd(): NanoUsd {
    let sum = 0n;
    for (const { inTransit } of this.#partitions.values())
      for (const nanoUsd of inTransit.values()) sum += nanoUsd;
    return sum;
  }

  get counts(): Readonly<MoveCounts> {
    return this.#counts;
  }

  async #handle({ partition, records }: FeedBatch): Promise<BatchOutcome> {
    const moves = this.#movesOf(partition);
    const outcomes = await this.#moveAll(records, moves);
    const again = outcomes.findIndex(({ outcome }) => outcome === 'try_again');
    const done = again === -1 ? outcomes : outcomes.slice(0, again);
    const last = records[done.length - 1];
    const resumeOffset = last === undefined ? null : last.offset + 1n;
    moves.doneAhead.clear();
    if (again === -1) return { outcomes, resumeOffset };
    for (const [i, outcome] of outcomes.entries()) {
      const record = records[i];
      if (record !== undefined && i > again && outcome.outcome === 'done') {
        moves.doneAhead.set(record.offset, outcome);
      }
    }
    return { outcomes: [...done, TRY_AGAIN], resumeOffset };
  }

  /** An agent sells what it has just bought: trades that share one follow each other, all others run side by side. */
  #moveAll(records: FeedBatch['records'], moves: PartitionMoves): Promise<RecordOutcome[]> {
    const atOnce = limitTasks(MOVES_AT_ONCE);
    const latest = new Map<number, Promise<RecordOutcome>>();
    return Promise.all(
      records.map((record): RecordOutcome | Promise<RecordOutcome> => {
        const before = moves.doneAhead.get(record.offset);
        if (before !== undefined) return before;
        const parsed = parseMarketRecord(marketTrade, record);
        if (!parsed.ok) return { outcome: 'dead_letter', reason: parsed.reason };
        const trade = parsed.record;
        const agents = [trade.sellerAgentId, trade.buyerAgentId];
        const earlier = Promise.all(agents.map((agentId) => latest.get(agentId)));
        const moving = earlier.then((ends) =>
          ends.some((end) => end?.outcome === 'try_again')
            ? TRY_AGAIN
            : atOnce(() => this.#move(trade, moves.inTransit)),
        );
        for (const agentId of agents) latest.set(agentId, moving);
        return moving;
      }),
    );
  }

  async #move(trade: MarketTrade, inTransit: PartitionMoves['inTransit']): Promise<RecordOutcome> {
    if (this.#stopped) return TRY_AGAIN;
    const { ledger, log } = this.#options;
    const { sellerAgentId, buyerAgentId, size: nanoUsd } = trade;
    // Two sellers' trades of one id, an exchange's mistake, are two: else the second would vanish on its way to its buyer.
    const tradeId = `${sellerAgentId}:${trade.tradeId}`;
    const sale = { tradeId, expiresAtMs: endOf(trade), nanoUsd };
    try {
      const out = await executeDurably(ledger, {
        ...{ type: 'move_out', agentId: sellerAgentId, buyerAgentId },
        ...sale,
      });
      if (!out.ok) return out.reason === 'unavailable' ? TRY_AGAIN : await this.#reject(trade, out.reason);
      inTransit.set(tradeId, nanoUsd);
      const into = await executeDurably(ledger, { type: 'move_in', agentId: buyerAgentId, ...sale });
      if (!into.ok) return TRY_AGAIN;
      inTransit.delete(tradeId);
      this.#counts.moved += 1;
      this.#reportExpired(trade, into.expiredNanoUsd);
      return { outcome: 'done' };
    } catch (error) {
      log.error('moving the credit of a trade failed, will retry', { agentId: sellerAgentId, error });
      return TRY_AGAIN;
    }
  }

  async #reject(trade: MarketTrade, refusal: Refusal): Promise<RecordOutcome> {
    const reason = rejectionOf[refusal];
    await this.#options.reject(trade, reason);
    this.#counts.rejected += 1;
    this.#options.log.warn('a trade was rejected', { agentId: trade.sellerAgentId, cause: reason });
    return { outcome: 'done', rejected: reason };
  }

  #reportExpired(trade: MarketTrade, expiredNanoUsd: NanoUsd): void {
    if (expiredNanoUsd === 0n) return;
    this.#counts.expiredNanoUsd += expiredNanoUsd;
    // The lot had ended, or the buyer was at the balance cap.
    this.#options.log.error('credit of a trade expired on arrival', {
      agentId: trade.buyerAgentId,
      usd: formatUsd(expiredNanoUsd),
    });
  }

  #movesOf(partition: number): PartitionMoves {
    const moves = this.#partitions.get(partition) ?? { doneAhead: new Map(), inTransit: new Map() };
    this.#partitions.set(partition, moves);
    return moves;
  }
}

type Refusal = Extract<MoveOutResult, { ok: false }>['reason'];

const rejectionOf: Readonly<Record<Refusal, TradeRejection>> = {
  unknown_agent: 'unknown_seller',
  lot_ended: 'market_ended',
  // No trade is of nothing.
  nothing: 'seller_lacks_credit',
  balance: 'seller_lacks_credit',
  other_terms: 'trade_id_taken',
};

function endOf({ market }: MarketTrade): number {
  const id = parseMarketId(market);
  if (id === null) throw new Error('a decoded trade has no market');
  return id.endsAtMs;
}
