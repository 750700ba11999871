import { z } from 'zod';
import { formatUsd, parseNanoUsd } from '../money.ts';
import { parseMarketId } from './market-id.ts';

/**
 * The highest number of a trade or a change in one market: eight days at a million a second. It fits into a
 * timestamp of Cassandra.
 */
export const MARKET_SEQ_MAX = 1_000_000_000_000;

const DECIMALS = { 7: /^\d{1,7}(\.\d{1,9})?$/, 12: /^\d{1,12}(\.\d{1,9})?$/ };

/** A decimal of nine digits behind the point at most, read as billionths. */
const decimal = (what: string, digitsMax: 7 | 12, takesZero = false) =>
  z.string().transform((text, context) => {
    const nano = DECIMALS[digitsMax].test(text) ? parseNanoUsd(text) : null;
    if (nano !== null && (takesZero || nano > 0n)) return nano;
    context.addIssue(`is no ${what}`);
    return z.NEVER;
  });

export const marketId = z.string().refine((text) => parseMarketId(text) !== null, 'is no id of a market');
/** Of its market, from 1 on, without gaps. */
export const marketSeq = z.int().positive().max(MARKET_SEQ_MAX);
export const marketTime = z.iso.datetime().transform((text) => Date.parse(text));
/** USDT for a dollar of credit, in billionths. */
export const price = decimal('price above 0', 7);
/** Dollars of credit, in billionths: no agent has more. */
export const size = decimal('size above 0', 7);
/** Of all orders at a price. */
export const levelSize = decimal('size above 0', 12);
/** 0: nothing is left at this price. */
export const sizeLeft = decimal('size', 12, true);

/** As the API shows prices and sizes: an exact decimal without trailing zeros. */
export const formatDecimal9 = formatUsd;
