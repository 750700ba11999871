import { type Draw, pick } from '../ledger/history/random.ts';
import { marketOf, type TradeFields, tradeRecord } from './trades.ts';

/** In two shards; the last one has no credit, and nobody has told of it. */
export const AGENTS = [1, 2, 3, 4, 5] as const;
const UNKNOWN = 9;
/** Of each partition: the days until its market's credit ends. */
export const MARKET_DAYS = [2, 4] as const;

export interface DrawnTrade {
  /** `null`: nobody can read it. */
  trade: TradeFields | null;
  bytes: Buffer;
}

/** Trades of one market: most of credit that is there, some again, some of an id that others have. */
export function drawTrades(draw: Draw, partition: number, count: number): DrawnTrade[] {
  const drawn: DrawnTrade[] = [];
  const market = marketOf(MARKET_DAYS[partition] ?? 8);
  while (drawn.length < count) {
    const earlier = drawn.length > 0 ? pick(draw, drawn).trade : null;
    const seq = drawn.length + 1;
    const kind = draw(16);
    if (kind === 0) drawn.push({ trade: null, bytes: Buffer.from('{"v":1,"type":"traded"}') });
    else if (kind === 1 && earlier !== null) drawn.push(drawnOf(earlier));
    else {
      const sellerAgentId = draw(24) === 0 ? UNKNOWN : pick(draw, AGENTS);
      const isOld = kind <= 3 && earlier !== null;
      drawn.push(
        drawnOf({
          market: draw(30) === 0 ? marketOf(pick(draw, [0, 12])) : market,
          seq,
          tradeId: isOld ? earlier.tradeId : `${partition}-${seq}`,
          sellerAgentId: isOld && kind === 2 ? earlier.sellerAgentId : sellerAgentId,
          buyerAgentId: pick(draw, AGENTS),
          nanoUsd: BigInt(1 + draw(draw(6) === 0 ? 90 : 25)),
        }),
      );
    }
  }
  return drawn;
}

const drawnOf = (trade: TradeFields): DrawnTrade => ({
  trade,
  bytes: Buffer.from(JSON.stringify(tradeRecord(trade))),
});
