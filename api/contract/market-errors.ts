import { BOOK_DEPTH_MAX, CANDLES_MAX } from '#core/limits.ts';
import { intervals } from '#core/market/candle.ts';
import { type ApiError, afterWait, type ErrorRow, errorTable, fixFirst } from './errors.ts';

const INTERVALS = intervals.map((interval) => `\`${interval}\``).join(', ');

/**
 * Spec: Errors, Market endpoints, in its order, and what any service may have to answer. Below `/dex` there is nothing else;
 * the running gateway, the OpenAPI document and the tests all read this table.
 */
export const marketErrorTable = {
  invalid_depth: fixFirst(400, `\`depth\` has to be a whole number from 1 to ${BOOK_DEPTH_MAX}.`),
  invalid_interval: fixFirst(400, `\`interval\` has to be one of ${INTERVALS}.`),
  invalid_limit: fixFirst(400, `\`limit\` has to be a whole number from 1 to ${CANDLES_MAX}.`),
  unknown_parameter: fixFirst(400, 'A query parameter is not one of this endpoint, or was sent twice.'),
  not_found: fixFirst(404, 'The market exchange is not open yet.'),
  unknown_market: fixFirst(404, 'No open market has this id; `GET /dex/markets` lists those that are open.'),
  rate_limited: afterWait(
    429,
    60,
    'This address has used its weight of this minute; wait the seconds in retry-after.',
  ),
  service_unavailable: afterWait(503, 2, 'Market data is briefly unavailable; wait as retry-after-ms says.'),
  gateway_error: errorTable.gateway_error,
} as const satisfies Record<string, ErrorRow>;

export type MarketErrorCode = keyof typeof marketErrorTable;

/** A refusal below `/dex`, as a value. Made by `marketError` only. */
export interface MarketError extends Omit<ApiError, 'code'> {
  code: MarketErrorCode;
}

export function marketError(
  code: MarketErrorCode,
  details: { message?: string; retryAfterMs?: number } = {},
): MarketError {
  const row: ErrorRow = marketErrorTable[code];
  const retryAfterMs = details.retryAfterMs ?? row.retryAfterMs;
  return {
    refused: true,
    code,
    message: details.message ?? row.message,
    param: null,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}
