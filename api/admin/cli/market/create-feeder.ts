import { type Clock, isoTime, SECOND_MS, wait } from '#core/clock.ts';
import { BOOK_TOPIC } from '#core/events/book-record.ts';
import { MARKETS_TOPIC } from '#core/events/market-listing.ts';
import { TRADES_TOPIC } from '#core/events/market-trade.ts';
import { FEED_RECORDS_AT_ONCE } from '#core/limits.ts';
import { formatUsd, parseNanoUsd } from '#core/money.ts';
import type { ScriptLine } from '../../../simulator/market/create-market-script.ts';
import type { MarketPoint } from '../../../simulator/market/simulated-market.ts';
import { FedRecords } from '../../schemas/fed-records.ts';
import type { GatewayClient } from '../gateway-client.ts';
import type { MarketTurn } from './market-turn.ts';

export interface Feeder {
  /** The market, while the gateway waits for the whole of its book. */
  wanted: Set<string>;
  /** Resolves once the gateway has taken all of it. */
  feed(lines: readonly ScriptLine[]): Promise<void>;
  /** Where the market is after what was fed. */
  point(): MarketPoint;
  /** What was fed since the turn before. */
  endTurn(nowMs: number, behindMs: number): MarketTurn;
}

/** Between two tries of what the gateway cannot take now. */
const AGAIN_MS = SECOND_MS / 4;
const TRIES_MAX = 40;
const TOPICS = [MARKETS_TOPIC, TRADES_TOPIC, BOOK_TOPIC];

export function createFeeder(
  { client, clock }: { client: Pick<GatewayClient, 'post'>; clock: Clock },
  market: string,
  from: MarketPoint,
): Feeder {
  let { bookSeq, tradeSeq, price } = from;
  let before = price;
  let turn = emptyTurn();
  const wanted = new Set<string>();

  function count({ topic, record }: ScriptLine): void {
    if (topic === TRADES_TOPIC) {
      turn.trades++;
      turn.volumeNano += parseNanoUsd(record.size) ?? 0n;
      tradeSeq = record.seq;
      price = record.price;
    } else if (topic === BOOK_TOPIC) {
      turn.changes += record.type === 'book_changed' ? record.changes.length : 0;
      bookSeq = record.seq;
    }
  }

  async function post(topic: string, records: readonly object[]): Promise<void> {
    let left = records;
    for (let tries = 0; left.length > 0; tries++) {
      const { value } = await client.post(FedRecords, `/feeds/${topic}`, { records: left });
      if (value.wanted_snapshots.includes(market)) wanted.add(market);
      else wanted.delete(market);
      const taken = value.outcomes.filter(({ outcome }) => outcome !== 'try_again');
      for (const { outcome, reason } of taken) {
        if (outcome !== 'done') refuse(1, reason ?? outcome);
      }
      left = left.slice(taken.length);
      if (left.length === 0) return;
      if (tries === TRIES_MAX) return refuse(left.length, 'the gateway cannot take them now');
      await wait(clock, AGAIN_MS);
    }
  }

  function refuse(records: number, reason: string): void {
    turn.refused += records;
    turn.reasons.add(reason);
  }

  return {
    wanted,
    async feed(lines) {
      for (const topic of TOPICS) {
        const records = lines.filter((line) => line.topic === topic).map(({ record }) => record);
        for (let from = 0; from < records.length; from += FEED_RECORDS_AT_ONCE) {
          await post(topic, records.slice(from, from + FEED_RECORDS_AT_ONCE));
        }
      }
      for (const line of lines) count(line);
    },
    point: () => ({ bookSeq, tradeSeq, price }),
    endTurn(nowMs, behindMs) {
      const { trades, volumeNano, changes, refused, reasons } = turn;
      const told: MarketTurn = {
        ...{ at: isoTime(nowMs), market, price, price_before: before, trades, volume: formatUsd(volumeNano) },
        ...{ changes, refused, reasons: [...reasons], behind_ms: behindMs },
      };
      before = price;
      turn = emptyTurn();
      return told;
    },
  };
}

const emptyTurn = () => ({ trades: 0, volumeNano: 0n, changes: 0, refused: 0, reasons: new Set<string>() });
