import { z } from 'zod';
import { isoTime } from '#core/clock.ts';
import { BOOK_TOPIC } from '#core/events/book-record.ts';
import { MARKETS_TOPIC } from '#core/events/market-listing.ts';
import { TRADES_TOPIC } from '#core/events/market-trade.ts';
import { formatUsd, parseNanoUsd } from '#core/money.ts';
import type { ScriptLine } from '../../../simulator/market/create-market-script.ts';
import type { MarketPoint } from '../../../simulator/market/simulated-market.ts';
import type { GatewayClient } from '../gateway-client.ts';
import type { MarketTurn } from './market-turn.ts';

export interface Feeder {
  /** Resolves once the gateway has taken all of it. */
  feed(lines: readonly ScriptLine[]): Promise<void>;
  /** Where the market is after what was fed. */
  point(): MarketPoint;
  /** What was fed since the turn before. */
  endTurn(nowMs: number, behindMs: number): MarketTurn;
}

const feedAnswer = z.object({
  outcomes: z.array(z.object({ outcome: z.string(), reason: z.string().optional() })),
});

/** Of one request's body. */
const BODY_CHARS = 48 * 1024;
const TOPICS = [MARKETS_TOPIC, TRADES_TOPIC, BOOK_TOPIC];

export function createFeeder(
  client: Pick<GatewayClient, 'post'>,
  market: string,
  from: MarketPoint,
): Feeder {
  let { bookSeq, tradeSeq, price } = from;
  let before = price;
  let turn = emptyTurn();

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
    const { value } = await client.post(feedAnswer, `/feeds/${topic}`, { records });
    for (const { outcome, reason } of value.outcomes) {
      if (outcome === 'done') continue;
      turn.refused++;
      turn.reasons.add(reason ?? outcome);
    }
  }

  return {
    async feed(lines) {
      for (const topic of TOPICS) {
        const records = lines.filter((line) => line.topic === topic).map(({ record }) => record);
        for (const some of inBodies(records)) await post(topic, some);
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

/** As many of them in a body as it may have. */
function* inBodies(records: readonly object[]): Generator<object[]> {
  let some: object[] = [];
  let chars = 0;
  for (const record of records) {
    const more = JSON.stringify(record).length + 1;
    if (some.length > 0 && chars + more > BODY_CHARS) {
      yield some;
      some = [];
      chars = 0;
    }
    some.push(record);
    chars += more;
  }
  if (some.length > 0) yield some;
}
